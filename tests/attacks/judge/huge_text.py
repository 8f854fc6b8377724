# Tries to send a text of a hundred megabytes.
# share: 0
# others: any

def standardize(x, dim, eps):
    return 'a' * 10**8
