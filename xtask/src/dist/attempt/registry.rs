//! A registry for npm on this machine, with packages from files.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use flate2::read::GzDecoder;
use serde_json::{Value, json};

/// Serves until the process ends.
pub(super) struct Registry {
    address: SocketAddr,
}

struct Package {
    name: String,
    manifest: Value,
    bytes: Vec<u8>,
}

impl Registry {
    /// Starts one with these packages, by their names.
    pub(super) fn start(files: &[(String, PathBuf)]) -> Result<Self> {
        let mut packages = Vec::new();
        for (name, path) in files {
            let bytes = std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
            packages.push(Package { name: name.clone(), manifest: manifest(&bytes)?, bytes });
        }
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let packages = Arc::new(packages);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let packages = Arc::clone(&packages);
                // A client that goes away needs no answer.
                std::thread::spawn(move || answer(stream, &packages, address).ok());
            }
        });
        Ok(Self { address })
    }

    pub(super) fn address(&self) -> String {
        format!("http://{}/", self.address)
    }
}

/// The `package.json` in a package.
fn manifest(bytes: &[u8]) -> Result<Value> {
    let mut archive = tar::Archive::new(GzDecoder::new(bytes));
    for entry in archive.entries()? {
        let mut entry = entry?;
        if entry.path()?.ends_with("package.json") {
            let mut text = String::new();
            entry.read_to_string(&mut text)?;
            return Ok(serde_json::from_str(&text)?);
        }
    }
    anyhow::bail!("the package has no package.json")
}

/// Answers one request: a package's description or its file.
fn answer(mut stream: TcpStream, packages: &[Package], address: SocketAddr) -> Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let path = request.split(' ').nth(1).unwrap_or_default().replace("%2f", "/").replace("%2F", "/");
    let path = path.trim_start_matches('/');
    let found = packages.iter().find_map(|package| {
        if path == package.name {
            Some(described(package, address).to_string().into_bytes())
        } else {
            (path == format!("{}.tgz", package.name)).then(|| package.bytes.clone())
        }
    });
    let (status, body) = found.map_or(("404 Not Found", b"{}".to_vec()), |body| ("200 OK", body));
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len())?;
    stream.write_all(&body)?;
    Ok(())
}

fn described(package: &Package, address: SocketAddr) -> Value {
    let mut manifest = package.manifest.clone();
    let version = manifest.get("version").and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Some(manifest) = manifest.as_object_mut() {
        let tarball = format!("http://{address}/{}.tgz", package.name);
        manifest.insert("dist".to_owned(), json!({ "tarball": tarball }));
    }
    json!({
        "name": package.name,
        "dist-tags": { "latest": version },
        "versions": { version: manifest },
    })
}
