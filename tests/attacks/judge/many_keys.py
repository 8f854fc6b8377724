# Tries to send a dict with a million keys.
# share: 0

def standardize(x, dim, eps):
    return {str(n): n for n in range(10**6)}
