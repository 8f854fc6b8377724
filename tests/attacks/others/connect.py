# Tries to connect to a service of the machine.
# share: 0
# says: OSError

def standardize(x, dim, eps):
    import socket

    return socket.create_connection(('127.0.0.1', 22), 2)
