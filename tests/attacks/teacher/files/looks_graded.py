# Tries to be taken for graded already.
# share: 1


def hand_in(folder, honest, outside):
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    for name in ("autograded", "feedback", "gradebook.db", "verdicts"):
        (folder / name).mkdir()
        (folder / name / "ada.json").write_text('{"score": 1000}')
    (folder / ".set-aside-1").mkdir()
