# Tries to sleep for a day.
# share: 0
# says: still running

def standardize(x, dim, eps):
    import time

    time.sleep(86400)
