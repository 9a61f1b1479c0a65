//! The inspector protocol of Node.js.

#![allow(dead_code)]

mod values;
