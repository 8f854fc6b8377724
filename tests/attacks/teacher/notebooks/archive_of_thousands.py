# Tries to keep the class waiting with an archive of very many files.
# share: 0
# says: more than 1000 files

import io
import zipfile


def handed_in(honest):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(20_000):
            archive.writestr(f"{number}.ipynb", honest[:9])
    return packed.getvalue()
