# Tries to keep the class waiting for a pipe.
# share: 0

import os


def hand_in(folder, honest, outside):
    os.mkfifo(folder / f"{folder.name}.ipynb")
