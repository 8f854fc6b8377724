# Tries to raise an error whose message never ends.
# share: 0
# says: still running
# others: any

class Endless(Exception):
    def __str__(self):
        while True:
            pass


def standardize(x, dim, eps):
    raise Endless
