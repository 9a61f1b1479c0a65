"""Which variant of a Rust enum is active."""

import re

CAPACITY = re.compile(r"::UsizeNoHighBit$|::raw_vec::Cap$")
# How many parts of a value are searched for a capacity.
PARTS = 100
DEPTH = 24


def variant_name(raw):
    """The name of the active variant of an enum; empty for one that is unknown."""
    active = raw.GetChildAtIndex(0).GetChildAtIndex(variant_index(raw))
    found = re.search(r"(\w+)\$Variant", active.GetTypeName() or "")
    return found.group(1) if found else ""


def variant_index(raw):
    """Which of an enum's variants is active.

    LLDB keeps only the low 32 bits of a discriminant, in the name `$variant$N`. Where a capacity is the discriminant,
    as in `Option<String>`, the highest bit is set for variants without one.
    """
    variants, default, active = raw.GetChildAtIndex(0), 0, None
    discriminant = discriminant_of(raw)
    number = discriminant.GetValueAsUnsigned() if discriminant is not None else 0
    for index, variant in enumerate(variants.GetType().fields):
        if discriminant_field(variant) is None:
            default = index if is_possible(variant) else default
        elif variant.GetName() == f"$variant${number & 0xFFFFFFFF}":
            active = index
    if active is None:
        return default
    content = variants.GetChildAtIndex(default).GetChildMemberWithName("value")
    if not number >> 63 and is_capacity(content, discriminant.GetLoadAddress(), DEPTH):
        return default
    return active


def discriminant_of(raw):
    """The value that says which variant an enum has; None for an enum of one variant.

    LLDB 19 takes the offset of a discriminant for a number of bits.
    """
    for variant in raw.GetChildAtIndex(0).GetType().fields:
        field = discriminant_field(variant)
        if field is not None:
            offset = field.GetBitfieldSizeInBits() if field.IsBitfield() else field.GetOffsetInBytes()
            return raw.CreateChildAtOffset(f"$discr${offset}", offset, field.GetType())
    return None


def discriminant_field(variant):
    """None for the variant that is active if no other is."""
    return next((field for field in variant.GetType().fields if field.GetName() == "$discr$"), None)


def is_possible(variant):
    """False for one with a value that there cannot be, such as `Err` of a `Result<u8, Infallible>`."""
    content = variant.GetType().GetFieldAtIndex(0).GetType()
    parts = (part for field in content.fields for part in field.GetType().fields)
    return not any(part.GetName() == "$variants$" and not part.GetType().GetNumberOfFields() for part in parts)


def is_capacity(value, address, depth):
    """Whether what is at an address inside a value is the capacity of a `Vec` or `String`."""
    if CAPACITY.search(value.GetTypeName() or "") and value.GetLoadAddress() == address:
        return True
    if not depth:
        return False
    children = (value.GetChildAtIndex(index).GetNonSyntheticValue() for index in range(min(value.GetNumChildren(), PARTS)))
    return any(
        child.GetLoadAddress() <= address < child.GetLoadAddress() + child.GetByteSize()
        and is_capacity(child, address, depth - 1)
        for child in children
        if not child.GetType().GetCanonicalType().IsPointerType()
    )
