# Tries to keep the class waiting with a time of many letters.
# share: 1
# says: set aside


def hand_in(folder, honest, outside):
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    (folder / "timestamp.txt").write_text("2026 " * 1_000_000)
