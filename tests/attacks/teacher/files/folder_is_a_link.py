# Tries to have the teacher's folder graded and copied.
# share: 0
# says: no such file


def hand_in(folder, honest, outside):
    folder.rmdir()
    folder.symlink_to(outside)
