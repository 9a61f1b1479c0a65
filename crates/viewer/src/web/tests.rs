//! Requests to the routes.
