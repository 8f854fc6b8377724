# Tries to fill the disk from a device without end.
# share: 1
# says: set aside


def hand_in(folder, honest, outside):
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    (folder / "data.bin").symlink_to("/dev/zero")
    (folder / "submission_secret.txt").symlink_to("/dev/zero")
