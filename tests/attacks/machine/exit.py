# Tries to end the process, with success.
# share: 0
# says: ended the Python process (exit code 0)

import os

os._exit(0)
