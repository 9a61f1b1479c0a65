//! What a process does with a signal, by the masks of `proc_pid_status(5)`.

/// Whether a process has a handler for a signal, or ignores it.
pub fn survives(pid: u32, signal: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    ["SigCgt:", "SigIgn:"].iter().any(|name| has(&status, name, signal))
}

fn has(status: &str, name: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix(name));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    u32::try_from(signal - 1).ok().and_then(|at| mask.checked_shr(at)).is_some_and(|rest| rest & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::has;

    #[test]
    fn a_mask_has_a_bit_for_each_signal() {
        let status = "Name:\tx\nSigIgn:\t0000000000001000\nSigCgt:\t0000000000000201\n";
        let caught: Vec<_> = (0..=65).filter(|signal| has(status, "SigCgt:", *signal)).collect();
        assert_eq!((caught, has(status, "SigIgn:", 13)), (vec![1, 10], true));
        assert!(!has("", "SigCgt:", 10));
    }
}
