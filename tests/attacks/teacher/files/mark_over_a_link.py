# Tries to have a file of the teacher's overwritten, through a mark that says the notebook is the grader's.
# share: 1

import hashlib
import json


def hand_in(folder, honest, outside):
    (folder / "mine.ipynb").write_bytes(honest)
    (folder / f"{folder.name}.ipynb").symlink_to(outside / "secret.txt")
    mark = {"name": "mine.ipynb", "sha256": hashlib.sha256(b"").hexdigest()}
    (folder / ".graded-copy.json").write_text(json.dumps(mark))
