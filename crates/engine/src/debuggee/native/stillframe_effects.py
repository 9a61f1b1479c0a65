"""Which expressions may change the program, by their text. Both debuggers evaluate what is watched to find where it is."""

import re

# An assignment or a call.
CHANGES = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)|<<=|>>=|\w\s*\(")

# Why an expression is refused.
REASON = "it may change the program"


def may_change(expression):
    return bool(CHANGES.search(expression))
