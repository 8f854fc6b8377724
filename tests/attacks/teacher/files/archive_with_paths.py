# Tries to have an archive's files written outside the folder.
# share: 1
# says: also handed in

import zipfile


def hand_in(folder, honest, outside):
    with zipfile.ZipFile(folder / "work.zip", "w") as archive:
        archive.writestr("mine.ipynb", honest)
        archive.writestr(f"../../../../outside/{folder.name}.ipynb", "{}")
        archive.writestr(str(outside / "secret.ipynb"), "{}")
