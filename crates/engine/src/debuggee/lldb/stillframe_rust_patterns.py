"""`matches!`: whether a value has the form that a pattern of Rust describes."""

from stillframe_values import Failed, Variant, need


def matches(evaluation):
    """The rest of `matches!(VALUE, PATTERN)`, from the parenthesis on."""
    evaluation.expect("(")
    value = evaluation.either()
    evaluation.expect(",")
    fits, guard = pattern(evaluation), None
    if evaluation.peek() == "if":
        evaluation.at += 1
        guard = rest_until(evaluation, {",", ")"})
    evaluation.take(",")
    evaluation.expect(")")
    evaluation.is_needed = True
    known = dict(evaluation.locals)
    try:
        return fits(value) and (guard is None or evaluation.truth(guard()))
    finally:
        evaluation.locals = known


def rest_until(evaluation, ends):
    """Leaves out an expression, which ends before one of these signs; returns a function that evaluates it."""
    start, depth = evaluation.at, 0
    while evaluation.peek() and (depth or evaluation.peek() not in ends):
        depth += (evaluation.peek() in ("(", "[", "{")) - (evaluation.peek() in (")", "]", "}"))
        evaluation.at += 1
    end = evaluation.at

    def value():
        before, evaluation.at = evaluation.at, start
        try:
            is_block = evaluation.peek() == "{"
            evaluation.at += is_block
            found = evaluation.either()
            need(evaluation.at + is_block == end)
            return found
        finally:
            evaluation.at = before

    return value


def pattern(evaluation):
    """Reads a pattern; returns a function that tries it on a value."""
    evaluation.take("|")
    ways = [single(evaluation)]
    while evaluation.take("|"):
        ways.append(single(evaluation))
    return lambda value: any(fits(value) for fits in ways)


def single(evaluation):
    while evaluation.take("&", "&&"):
        pass
    if evaluation.take("("):
        return fields(evaluation, numbered(evaluation, ")"))
    kind, text = next_token(evaluation)
    while text in ("mut", "ref"):
        kind, text = next_token(evaluation)
    if kind == "name" and text in evaluation.types.CONSTANTS:
        wanted = evaluation.types.CONSTANTS[text]
        return lambda value: evaluation.compare("==", value, wanted)
    if kind == "name":
        return named(evaluation, text)
    evaluation.at -= 1
    least = bound(evaluation) if text not in ("..", "..=") else None
    if not (sign := evaluation.take("..", "..=")):
        return lambda value: evaluation.compare("==", value, least)
    is_open = evaluation.peek() in (")", ",", "|", "}")
    most = None if is_open else bound(evaluation)
    within = "<=" if sign == "..=" else "<"
    return lambda value: (
        (least is None or evaluation.compare(">=", value, least))
        and (most is None or evaluation.compare(within, value, most))
    )


def bound(evaluation):
    is_negative = evaluation.take("-")
    kind, text = next_token(evaluation)
    need(kind in ("number", "letter", "text"))
    evaluation.at -= 1
    value = evaluation.primary()
    return evaluation.negated(value, is_literal=True) if is_negative else value


def named(evaluation, name):
    """A variant, a structure, a constant, or a name for whatever is there."""
    if evaluation.peek() == "@":
        evaluation.at += 1
        fits = pattern(evaluation)
        return lambda value: fits(value) and bound_to(evaluation, name, value)
    if evaluation.take("("):
        parts = numbered(evaluation, ")")
    elif evaluation.peek() == "{":
        evaluation.at += 1
        parts = labelled(evaluation)
    elif "::" not in name and not name[0].isupper():
        return lambda value: bound_to(evaluation, name, value)
    else:
        known = evaluation.variable(name)
        wanted = Variant(name) if known is None else known
        return lambda value: evaluation.compare("==", value, wanted)
    fits = fields(evaluation, parts)
    return lambda value: is_of(evaluation, value, name) and fits(value)


def bound_to(evaluation, name, value):
    """Gives a value the name that a pattern has for it."""
    if name != "_":
        evaluation.locals[name] = value
    return True


def is_of(evaluation, value, name):
    """Whether a value is of a variant or of a structure."""
    is_variant = evaluation.is_variant(value, Variant(name))
    return True if is_variant is None else is_variant


def numbered(evaluation, end):
    """The patterns of the fields of a tuple, as far as `..`."""
    parts, is_open = [], False
    while not evaluation.take(end):
        if evaluation.take(".."):
            is_open = True
        else:
            need(not is_open)  # It counts from the end.
            parts.append((str(len(parts)), pattern(evaluation)))
        evaluation.comma(end)
    return parts


def labelled(evaluation):
    parts = []
    while evaluation.peek() != "}":
        if not evaluation.take(".."):
            kind, name = next_token(evaluation)
            while name in ("mut", "ref"):
                kind, name = next_token(evaluation)
            need(kind == "name")
            if evaluation.peek() == ":":
                evaluation.at += 1
                parts.append((name, pattern(evaluation)))
            else:
                parts.append((name, named(evaluation, name)))
        evaluation.comma("}")
    evaluation.at += 1
    return parts


def fields(evaluation, parts):
    """Whether the fields of a value fit."""

    def fits(value):
        if isinstance(value, Variant):
            return all(fits(value.content) for _, fits in parts)
        return all(fits(evaluation.field(value, name)) for name, fits in parts)

    return fits


def next_token(evaluation):
    if evaluation.at == len(evaluation.tokens):
        raise Failed("the pattern does not end")
    evaluation.at += 1
    return evaluation.tokens[evaluation.at - 1]
