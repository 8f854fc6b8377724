# Tries to put a script into the teacher's page by an error message.
# share: 0

def standardize(x, dim, eps):
    raise ValueError('<script>alert(1)</script>')
