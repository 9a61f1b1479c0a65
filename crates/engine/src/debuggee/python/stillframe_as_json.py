# Returns the list of `Adapter::as_json`. It is one expression, because it is evaluated in a frame of the program. Only
# values that JSON represents exactly become JSON: no subclass, infinite number or key other than a string.
(
    lambda value, longest: (
        lambda fits, load=__import__: [
            type(value).__name__,
            (
                lambda json: json.dumps(value)
                .replace("\x7f", "\\u007f")
                .replace("'", "\\u0027")
                .replace("~", "\\u007e")
                .replace("\\", "~")
                if len(json.dumps(value, ensure_ascii=False)) <= longest
                else 0
            )(load("json"))
            if fits(fits, value, [], 0)
            else 0,
            value,
        ]
    )(
        # Every value takes at least one character, so that conversion of a huge one ends early.
        lambda fits, value, seen, depth: seen.append(0) is None
        and len(seen) <= longest
        and depth < 50
        and (
            value is None
            or type(value) in (bool, int, str)
            or (type(value) is float and value - value == 0)
            or (type(value) in (list, tuple) and all(fits(fits, item, seen, depth + 1) for item in value))
            or (
                type(value) is dict
                and all(type(key) is str and fits(fits, item, seen, depth + 1) for key, item in value.items())
            )
        )
    )
)
