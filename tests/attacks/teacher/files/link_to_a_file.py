# Tries to have the teacher's file copied.
# share: 1
# says: set aside


def hand_in(folder, honest, outside):
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    (folder / "data.csv").symlink_to(outside / "secret.txt")
    (folder / "deeper").mkdir()
    (folder / "deeper" / "data.csv").symlink_to("../../../../../outside/secret.txt")
