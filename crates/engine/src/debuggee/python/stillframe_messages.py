"""Compiles log messages."""


def log_code(message):
    """Compile a log message as an f-string."""
    for quotes in ("'''", '"""'):
        if quotes not in message and not message.endswith((quotes[0], "\\")):
            return compile("rf%s%s%s" % (quotes, message, quotes), "<log message>", "eval", dont_inherit=True)
    raise SyntaxError("the text ends in a quote or backslash, or holds both kinds of triple quotes")
