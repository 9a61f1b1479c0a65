"""Which expressions may change the program, by their text. Both debuggers evaluate what is watched to find where it is, and
run no code of the program for it.
"""

import re

# An assignment or a call.
CHANGES = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)|<<=|>>=|\b(?!sizeof\b)\w+\s*\(")

# Why an expression is refused.
REASON = "it may change the program"


def may_change(expression):
    return bool(CHANGES.search(expression))
