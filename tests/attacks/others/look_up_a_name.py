# Tries to ask for a name, which could carry a message out.
# share: 0
# says: gaierror

def standardize(x, dim, eps):
    import socket

    return socket.gethostbyname('secret.example.org')
