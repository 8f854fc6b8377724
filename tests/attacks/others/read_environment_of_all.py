# Tries to read the environment of every process.
# share: 0
# says: PermissionError

def standardize(x, dim, eps):
    import pathlib

    told = [path.read_text() for path in pathlib.Path('/proc').glob('1/environ')]
    return told
