# Tries to read the memory of the process that waits for it.
# share: 0
# says: PermissionError

def standardize(x, dim, eps):
    return open('/proc/1/mem', 'rb').read(10)
