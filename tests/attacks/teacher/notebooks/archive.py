# Tries to be unpacked to files elsewhere.
# share: 0
# says: without a notebook

import io
import zipfile


def handed_in(honest):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../../../tmp/pickled", b"\xff" * 1_000_000)
    return packed.getvalue()
