# Tries to keep the class waiting with commas that would have to be taken out.
# share: 0
# says: its JSON is damaged

def handed_in(honest):
    return b'{"metadata": [' + b"[1,]," * 900_000 + b"[]], " + honest.lstrip()[1:]
