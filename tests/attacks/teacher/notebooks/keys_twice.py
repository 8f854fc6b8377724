# Tries to show one notebook to people and another one to the grader.
# share: 0
# says: no cells

def handed_in(honest):
    return honest.rstrip()[:-1] + b', "cells": []}'
