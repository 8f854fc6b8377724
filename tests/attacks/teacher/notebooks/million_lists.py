# Tries to fill the memory with empty lists.
# share: 0
# says: lists and objects

def handed_in(honest):
    return b'{"metadata": [' + b"[]," * 9_000_000 + b"[]], " + honest.lstrip()[1:]
