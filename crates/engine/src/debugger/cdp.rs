//! The inspector protocol of Node.js.

#![allow(dead_code, unused_imports)]

mod values;
