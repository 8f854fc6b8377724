# Tries to stop the class with another encoding.
# share: 1
# says: UTF-16

def handed_in(honest):
    return honest.decode().encode("utf-16")
