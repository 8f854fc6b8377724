# Tries to send a list a hundred thousand deep.
# share: 0
# others: any

def standardize(x, dim, eps):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    return deep
