# Tries to have another one's notebook graded.
# share: 0
# says: no plain file


def hand_in(folder, honest, outside):
    (folder / f"{folder.name}.ipynb").symlink_to(outside / "secret.ipynb")
