# Tries to have a wrong cell counted as not attempted and repaired.
# share: 0

def standardize(x, dim, eps):
    raise NotImplementedError
