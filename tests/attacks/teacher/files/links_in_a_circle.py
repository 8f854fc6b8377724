# Tries to keep the class waiting with links that lead to each other.
# share: 1
# says: set aside


def hand_in(folder, honest, outside):
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    (folder / "here").symlink_to(".")
