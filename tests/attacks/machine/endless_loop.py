# Tries to compute without end.
# share: 0
# says: still running

def standardize(x, dim, eps):
    while True:
        pass
