# Tries to have a file of the teacher's overwritten by the mark.
# share: 1
# says: handed in as


def hand_in(folder, honest, outside):
    (folder / "mine.ipynb").write_bytes(honest)
    (folder / ".graded-copy.json").symlink_to(outside / "secret.txt")
