# Tries to start threads without end.
# share: 1
# others: any

def standardize(x, dim, eps):
    try:
        import threading
        stop = threading.Event()
        try:
            for _ in range(100_000):
                threading.Thread(target=stop.wait, daemon=True).start()
        finally:
            stop.set()
    except RuntimeError:
        pass
    mean, var = x.mean(dim, keepdim=True), x.var(dim, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(var + eps)
