# Tries to fill the memory with an archive that is small until it is opened.
# share: 0
# says: MB of notebooks

import io
import zipfile


def handed_in(honest):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(9):
            archive.writestr(f"{number}.ipynb", b" " * 33_000_000)
    return packed.getvalue()
