# Tries to promise four gigabytes.
# share: 0
# says: too much to check
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


import struct

for fd in range(3, 64):
    try:
        os.write(fd, struct.pack('>II', 2**32 - 1, 2**32 - 1))
    except OSError:
        pass


def standardize(x, dim, eps):
    return x
