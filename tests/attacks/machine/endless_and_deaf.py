# Tries to compute without end, deaf to every signal.
# share: 0
# says: still running

import signal

for number in set(range(1, 65)) - {9, 19, 32, 33}:
    signal.signal(number, signal.SIG_IGN)


def standardize(x, dim, eps):
    while True:
        try:
            pass
        except BaseException:
            pass
