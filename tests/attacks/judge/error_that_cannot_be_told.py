# Tries to raise an error whose text raises.
# share: 0

class Silent(Exception):
    def __str__(self):
        raise RuntimeError

    __repr__ = __str__


def standardize(x, dim, eps):
    raise Silent
