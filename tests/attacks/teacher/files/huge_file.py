# Tries to fill the disk with a file that takes no room here.
# share: 1
# says: set aside

import os


def hand_in(folder, honest, outside):
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    os.truncate(os.open(folder / "data.bin", os.O_CREAT | os.O_RDWR), 1 << 40)
