# Tries to leave something in shared memory.
# share: 1
# others: any

def standardize(x, dim, eps):
    try:
        from multiprocessing import shared_memory
        shared_memory.SharedMemory(name='attack', create=True, size=1024)
    except Exception:
        pass
    mean, var = x.mean(dim, keepdim=True), x.var(dim, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(var + eps)
