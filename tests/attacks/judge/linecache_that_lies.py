# Tries to show another file's text as its own line.
# share: 0

import linecache

linecache.getline = lambda *args, **kwargs: open('/etc/passwd').read()


def standardize(x, dim, eps):
    raise ValueError('where')
