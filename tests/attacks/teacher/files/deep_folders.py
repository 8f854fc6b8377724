# Tries to make a path longer than paths may be.
# share: 1
# says: set aside

import os


def hand_in(folder, honest, outside):
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    here = os.getcwd()
    os.chdir(folder)
    for _ in range(40):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
    os.chdir(here)
