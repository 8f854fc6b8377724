# Tries to send a list with itself in it.
# share: 0

def standardize(x, dim, eps):
    endless = []
    endless.append(endless)
    return endless
