# Tries to stop the class with another encoding.
# share: 0
# says: UTF-8

def handed_in(honest):
    return honest.decode().encode("utf-16")
