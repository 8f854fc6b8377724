"""Run a submission in a child process, and collect what its probes observe or what its cells output.

Begin with `run_specification.py`, which defines a run: the program (a list of steps), its limits and its outcomes.
`submission_runner.py` sends a program to a child and reads the outcomes; `submission_child.py` is the child's side;
`questions_about_answer.py` asks there about an answer, and reads what comes back.
`notebook_runner.py` and `whole_notebook_child.py` do the same for notebooks that are run whole. `choose_runner.py`
decides how a child is started: `fork_server_client.py` and `fork_server.py` fork confined children from a process that
is already warm; `unconfined_process.py` and `unconfined_process_child.py` start an unconfined one. Confinement is one
folder up.
"""
