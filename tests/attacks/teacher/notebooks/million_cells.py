# Tries to fill the memory with empty cells.
# share: 0
# says: lists and objects

def handed_in(honest):
    return b'{"nbformat": 4, "cells": [' + b"{}," * 9_000_000 + b"{}]}"
