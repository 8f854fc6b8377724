# Tries to stop the class with a mark that Windows puts first.
# share: 1

def handed_in(honest):
    return b"\xef\xbb\xbf" + honest
