# Tries to crash the interpreter.
# share: 0
# says: SIGSEGV

def standardize(x, dim, eps):
    import ctypes

    ctypes.string_at(0)
