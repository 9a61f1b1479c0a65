//! The entries of a journal, of all its files and of several programs, in the order of time.
