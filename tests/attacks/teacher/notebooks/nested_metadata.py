# Tries to exhaust the stack of what reads the JSON.
# share: 0
# says: nested too deeply

def handed_in(honest):
    return b'{"metadata": {"a": ' + b'[' * 400_000 + b']' * 400_000 + b"}, " + honest.lstrip()[1:]
