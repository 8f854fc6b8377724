# Tries to have something told to the teacher in the grader's name.
# share: 1

import hashlib
import json


def hand_in(folder, honest, outside):
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    digest = hashlib.sha256(honest).hexdigest()
    (folder / ".graded-copy.json").write_text(json.dumps({"name": "ALL IS WELL", "sha256": digest}))
