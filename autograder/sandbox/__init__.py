"""Run untrusted code: limit what students' code can see, reach and use up, by means of the Linux kernel.

`namespace_confinement.py` forks a confined process; begin there. It uses `root_filesystem.py` (the visible files),
`seccomp_filter.py` (the denied system calls) and `linux_calls.py` (calls that Python has no function for).
`landlock_confinement.py` does the same where the kernel gives no namespaces, as in most containers, with
`landlock_rules.py` (the usable files), `seccomp_rules_without_namespaces.py` (further denied system calls),
`scratch_folder.py` (the folder that code may write to, and its size) and `import_from_unlistable_folders.py` (imports
from folders that cannot be listed). `choose_confinement.py` chooses between the two by trying (`try_confinement.py`).
`confinement_self_test.py` does that in a process of its own, and `require_confinement.py` decides what to do if this
machine cannot confine. The processes that run submissions are in `execution/`.
"""
