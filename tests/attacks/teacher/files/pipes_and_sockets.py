# Tries to keep the class waiting for pipes.
# share: 1

import os
import socket


def hand_in(folder, honest, outside):
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    os.mkfifo(folder / "data.csv")
    os.mkfifo(folder / "timestamp.txt")
    here = os.getcwd()
    os.chdir(folder)
    with socket.socket(socket.AF_UNIX) as line:
        line.bind("line")
    os.chdir(here)
