# Tries to hand in nothing that can be graded.
# share: 0


def hand_in(folder, honest, outside):
    (folder / "essay.txt").write_text("My essay.")
