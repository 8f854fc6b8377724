"""Ready-made probes, by subject. A probe calls an answer and records an observation; it never decides anything.

Begin with `tensor_functions.py` (the usual probe, `make_call_probe`). The helpers of probes are in `../probe.py`.
"""
