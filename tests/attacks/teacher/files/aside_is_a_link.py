# Tries to lead the grader to files of the machine that look as if they were put aside.
# share: 1


def hand_in(folder, honest, outside):
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    (folder / ".set-aside-x").symlink_to("/proc")
    (folder / ".set-aside-y").mkdir()
    (folder / ".set-aside-y" / "0").symlink_to(outside)
