"""Types whose values LLDB formats itself.

LLDB prepares its interpreter of Python for each value that a function formats, which takes 0.3 ms, even if the function
has nothing to say about the value.
"""

TYPES = """
bool|_Bool|char|signed char|unsigned char|wchar_t|char8_t|char16_t
short|unsigned short|int|unsigned int|long|unsigned long|long long|unsigned long long
short int|short unsigned int|unsigned|long int|long unsigned int|long long int|long long unsigned int
float|double|long double
"""


def exempt(debugger):
    """Give these types, and no pointers to them, a summary of nothing, which comes before the one for all types."""
    names = " ".join(f'"{name}"' for line in TYPES.split("\n") for name in line.split("|") if name)
    debugger.HandleCommand(f'type summary add -p -r -s "{{${{var.none}}}}" -w stillframe {names}')
