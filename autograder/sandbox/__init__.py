"""Run untrusted code: limit what students' code can see, reach and use up, by means of the Linux kernel.

`confine.py` forks a confined process; begin there. It uses `root_filesystem.py` (the visible files),
`seccomp_filter.py` (the denied system calls) and `linux_calls.py` (calls that Python has no function for).
`self_test.py` tries whether this machine can confine, and `confinement_policy.py` decides what to do if it cannot. The
processes that run submissions are in `execution/`.
"""
