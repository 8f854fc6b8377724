# Tries to choke the grader with a message that is no JSON.
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


tell(b'{]' * 100)


def standardize(x, dim, eps):
    return x
