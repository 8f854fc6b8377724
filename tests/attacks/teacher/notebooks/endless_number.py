# Tries to keep the class waiting with a number of many digits.
# share: 0
# says: endless number

def handed_in(honest):
    return b'{"nbformat_minor": ' + b"9" * 100_000 + b", " + honest.lstrip()[1:]
