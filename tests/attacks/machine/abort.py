# Tries to abort the interpreter.
# share: 0
# says: SIGABRT

def standardize(x, dim, eps):
    import os

    os.abort()
