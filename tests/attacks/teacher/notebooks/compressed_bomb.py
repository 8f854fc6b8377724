# Tries to be unpacked to very much.
# share: 0
# says: gzip

import gzip


def handed_in(honest):
    return gzip.compress(b"0" * 50_000_000)
