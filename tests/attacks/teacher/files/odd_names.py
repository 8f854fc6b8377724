# Tries to confuse with names that are no names.
# share: 1
# says: also handed in

import os


def hand_in(folder, honest, outside):
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    for name in ("-rf.ipynb", "a\nb.ipynb", "=1+1.ipynb", "\x1b[2J.ipynb", "a;b$(c)`d`.ipynb", "x" * 249 + ".ipynb"):
        (folder / name).write_bytes(b"{}")
    for name in (b"\xff\xfe.txt", b"-rf *", b"a\nb", b"=cmd", b"..a", b"*.ipynb?", b"[x]", b"\\", b"x" * 255):
        (folder / os.fsdecode(name)).write_text("1")
