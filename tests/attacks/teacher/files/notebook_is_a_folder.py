# Tries to stand in the way of the graded notebook.
# share: 0
# says: no such file


def hand_in(folder, honest, outside):
    place = folder / f"{folder.name}.ipynb"
    place.mkdir()
    (place / "inside.txt").write_text("4242")
