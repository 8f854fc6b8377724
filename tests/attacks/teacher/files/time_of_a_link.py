# Tries to have the teacher's file read as a time.
# share: 1
# says: set aside


def hand_in(folder, honest, outside):
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    (folder / "timestamp.txt").symlink_to(outside / "secret.txt")
