# Tries to stop the class with a time that is none.
# share: 1
# says: set aside


def hand_in(folder, honest, outside):
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    (folder / "timestamp.txt").write_text("9" * 60 + " yesterday")
