# Tries to raise an error with a message of ten megabytes.
# share: 0

def standardize(x, dim, eps):
    raise ValueError('a' * 10**7)
