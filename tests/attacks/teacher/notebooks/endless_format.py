# Tries to have a number of many digits told.
# share: 0
# says: found none

def handed_in(honest):
    return b'{"cells": [], "nbformat": ' + b"9" * 4_000 + b"}"
