# Tries to have a line without end told as the line at which the answer stopped.
# share: 0
# says: ZeroDivisionError

class Loader:
    def get_source(self, name):
        return "4242 " * 10**7


given = {"__name__": "notebook", "__loader__": Loader(), "torch": torch}
exec(compile("def standardize(x, dim, eps): 1 / 0", "nowhere", "exec"), given)
standardize = given["standardize"]
