# Tries to stop the class with a mark that is nested deeply.
# share: 1


def hand_in(folder, honest, outside):
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    (folder / ".graded-copy.json").write_text("[" * 900_000)
