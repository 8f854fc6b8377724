# Tries to close every line, from a thread, at a moment that nobody can know.
# share: 0
# others: any

import os
import threading
import time


def close():
    time.sleep(0.05)
    os.closerange(3, 256)


threading.Thread(target=close, daemon=True).start()
time.sleep(0.2)


def standardize(x, dim, eps):
    return x
