"""Walking JSON values."""


def members(value):
    """The key or index, and the child, of each member; a copy, none for a scalar."""
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []
