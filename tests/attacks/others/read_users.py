# Tries to read the system's users.
# share: 0
# says: FileNotFoundError
# Landlock says: PermissionError

def standardize(x, dim, eps):
    return open('/etc/passwd').read()
