# Tries to print a hundred megabytes.
# share: 1

def standardize(x, dim, eps):
    for _ in range(8):  # for each of a dozen cases
        print('a' * 10**6)
    mean, var = x.mean(dim, keepdim=True), x.var(dim, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(var + eps)
