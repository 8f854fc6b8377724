# Tries to have the notebook that is not graded written over a file of the teacher's.
# share: 1
# says: as-handed-in-2.ipynb


def hand_in(folder, honest, outside):
    (folder / f"{folder.name}.ipynb").write_text("{}")
    (folder / "mine.ipynb").write_bytes(honest)
    (folder / f"{folder.name}-as-handed-in.ipynb").symlink_to(outside / "secret.txt")
