//! The prompts: one for any problem, and one for each kind of problem that a tool answers in one call.

use crate::prompt::{Candidates, Prompt, PromptArgument};

/// All of them.
pub(super) const PROMPTS: &[Prompt] = &[DEBUG, FAILING_TEST, WRONG_VALUE, HANG, CRASH];

const DEBUG: Prompt = Prompt {
    name: "debug",
    title: "Debug a problem",
    description: "Find a bug with the debugger in a few steps.",
    arguments: &[PromptArgument::required("problem", "What goes wrong, and how to run the program.")],
    text: "\
Find the cause of this problem with the debugger, not by guessing: {problem}

1. State one hypothesis: which value is wrong, where?
2. Ask the program: run_until the line (or with exceptions=\"uncaught\" to stop at the error itself) and evaluate \
the expressions that decide it. One call, no session to manage.
3. Already wrong there? Inspect the caller's frame, or stop earlier. Still right? Continue to where it is used. \
Halve the distance each time. A condition stops only at the hit that matters.
4. When you see where the wrong value is produced, try the fix in place with evaluate_expression or set_variable.
5. Close the session, change the code, and repeat the same run_until to verify.
Report the cause with the values you saw.",
};

const FAILING_TEST: Prompt = Prompt {
    name: "debug_failing_test",
    title: "Debug a failing test",
    description: "Find out why a test fails, from its state at the failure.",
    arguments: &[
        PromptArgument::required("command", "How to run the tests, such as `pytest -x`."),
        PromptArgument::optional("file", "The file of the test.", Candidates::Files),
        PromptArgument::optional("test", "Its name; default: the first that fails.", Candidates::Tests),
    ],
    text: "\
Find out why a test fails, with the debugger and not by guessing. The tests run with: {command}
The test is in {file}.
The test is {test}; select it the way its runner does.

1. Call debug_test with the command. It reports the first failure at its throw: both sides of the assertion, source, \
locals, stack.
2. Is the wrong value computed there, or did it arrive there? If it arrived, run_until the line that produces it, with \
the same command and a condition for the case that fails, and evaluate what decides it.
3. Several candidates? trace_values records them at every hit in one run.
4. Decide whether the code or the expectation is wrong, and say why, with the values you saw.
5. Change it, and call debug_test again to verify.",
};

const WRONG_VALUE: Prompt = Prompt {
    name: "find_wrong_value",
    title: "Find where a value goes wrong",
    description: "Trace a wrong value back to the line that produces it.",
    arguments: &[
        PromptArgument::required("command", "How to run the program."),
        PromptArgument::required("expression", "What has the wrong value, such as `cart.total`."),
        PromptArgument::optional("expected", "What it should be.", Candidates::Free),
        PromptArgument::optional("file", "The file where it is seen.", Candidates::Files),
        PromptArgument::optional("function", "The function where it is seen.", Candidates::Functions),
    ],
    text: "\
Find the line that gives {expression} its wrong value, with the debugger and not by guessing. The program runs with: \
{command}
It should be {expected}.
It is seen in {file}.
It is seen in the function {function}.

1. run_until the place where the wrong value is seen, with the value and what it is computed from as expressions.
2. Record it on its way: trace_values at the lines that assign it or its parts, with onlyWhenChanged. The first bad \
row names the line and the hit.
3. run_until that line with a condition for that hit, and evaluate each operand: one of them is wrong, or the line is.
4. An operand is wrong? Repeat with it. The line is wrong? Try the right expression with evaluate_expression.
5. Report the line, the operands and the values you saw; change the code and repeat the same run_until to verify.",
};

const HANG: Prompt = Prompt {
    name: "why_does_it_hang",
    title: "Find out why a program hangs",
    description: "Find the loop, the lock or the event that a program does not get past.",
    arguments: &[
        PromptArgument::optional("command", "How to run the program.", Candidates::Free),
        PromptArgument::optional("session", "ID of the session in which it hangs.", Candidates::Sessions),
    ],
    text: "\
Find out why a program does not finish, with the debugger and not by guessing.
It runs with: {command}
It hangs in the session {session}.

1. Call diagnose_hang with the command, or with the session's ID. The verdict is a busy loop, slow, waiting or \
deadlocked, with loop, stacks and evidence.
2. A busy loop: which values should bring the loop to its end? The report says how they change. run_until the \
loop's condition, and evaluate them there.
3. Waiting or deadlocked: who should release the lock or send the event? The stacks of the other threads say where \
they are; list_threads has them in a session.
4. Slow: the samples show which calls take the time; the estimate says when it will finish.
5. Report the cause with the evidence; change the code and call diagnose_hang again: it must say completed.",
};

const CRASH: Prompt = Prompt {
    name: "explain_crash",
    title: "Explain a crash",
    description: "Find the cause of an uncaught exception, a panic or a fatal signal.",
    arguments: &[
        PromptArgument::required("command", "How to run the program, or how it was run."),
        PromptArgument::optional("core", "Its crash dump.", Candidates::Free),
    ],
    text: "\
Find out why a program crashes, with the debugger and not by guessing. It runs with: {command}
Its crash dump is {core}: attach_to_process with coreFile shows the signal, the stacks and the values; nothing runs.

1. run_until without `until`: it stops at the uncaught exception, the panic or the fatal signal, before anything is \
unwound, with source, stack and locals.
2. Which value makes it fail? Read the locals of the innermost frame of the program's own code; evaluate_expression \
in its callers.
3. Where does that value come from? run_until the line that produces it, with a condition for the case that fails.
4. Report the cause in one sentence with the values you saw, then the smallest fix.
5. Change the code and repeat the first run_until to verify.",
};
