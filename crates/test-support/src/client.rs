//! What scenes need of a client, whichever way it reaches its server.

use serde_json::Value;

use crate::server::Reply;
use crate::{Answer, HttpClient, Server};

/// A client: one that writes lines, or one that speaks HTTP.
pub trait Client: Sync {
    /// Sends a request and waits for its response.
    fn request(&self, method: &str, params: Value) -> impl Future<Output = Reply> + Send;

    /// Calls a tool that is to succeed.
    fn ok(&self, tool: &str, arguments: Value) -> impl Future<Output = Answer> + Send;

    /// Calls a tool that is to fail with a code.
    fn fails(&self, code: &str, tool: &str, arguments: Value) -> impl Future<Output = Answer> + Send;
}

impl Client for Server {
    async fn request(&self, method: &str, params: Value) -> Reply {
        self.request(method, params).await
    }

    async fn ok(&self, tool: &str, arguments: Value) -> Answer {
        self.ok(tool, arguments).await
    }

    async fn fails(&self, code: &str, tool: &str, arguments: Value) -> Answer {
        self.fails(code, tool, arguments).await
    }
}

impl Client for HttpClient {
    async fn request(&self, method: &str, params: Value) -> Reply {
        self.request(method, params).await
    }

    async fn ok(&self, tool: &str, arguments: Value) -> Answer {
        self.ok(tool, arguments).await
    }

    async fn fails(&self, code: &str, tool: &str, arguments: Value) -> Answer {
        self.fails(code, tool, arguments).await
    }
}
