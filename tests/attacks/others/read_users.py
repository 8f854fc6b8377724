# Tries to read the system's users.
# share: 0
# says: FileNotFoundError

def standardize(x, dim, eps):
    return open('/etc/passwd').read()
