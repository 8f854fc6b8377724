# Tries to answer once more, later, out of a thread.
# share: 0
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


import threading


def standardize(x, dim, eps):
    threading.Timer(0.01, lambda: tell({'stage': 11})).start()
    return x
