# Tries to send a result of a gigabyte.
# share: 0
# others: any

def standardize(x, dim, eps):
    return torch.zeros(2**28)
