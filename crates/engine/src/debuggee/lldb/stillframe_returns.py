"""Reads what type a function returns."""


def return_type(target, function):
    """The type that a function returns. LLDB adds a method to its class when it reads the type of that method: to a class
    that it has not read yet, in front of the others, and virtual calls in expressions then go to another method, such as
    the destructor."""
    for one in function.GetBlock().GetVariables(target, True, False, False):
        if one.GetName() == "this":
            # To count its fields, LLDB reads the class.
            one.GetType().GetPointeeType().GetNumberOfFields()
            break
    return function.GetType().GetFunctionReturnType()
