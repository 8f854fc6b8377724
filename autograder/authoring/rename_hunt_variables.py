"""Rename local variables and the function of a bug hunt, so that students do not recognize the answer by its names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from autograder.course.faulty_program_names import faulty_program_name

# Other names of one meaning. What is not listed keeps its name: a wrong name would mislead more than a known one.
_SYNONYMS = {
    "accuracies": "hit_rates shares_right",
    "b1": "first_bias",
    "b2": "second_bias",
    "before": "earlier",
    "best": "best_so_far",
    "bound": "limit",
    "center": "midpoint",
    "centered": "deviations",
    "chosen": "selected",
    "copy": "duplicate twin",
    "correct": "hits n_correct",
    "count": "n_seen counted",
    "counts": "numbers",
    "device": "where",
    "found": "result",
    "flat": "flattened",
    "gen": "random_source",
    "generator": "random_source",
    "grad": "gradient",
    "grads": "gradients",
    "grad_x": "x_gradient",
    "grad_slope": "slope_gradient",
    "handle": "hook",
    "handles": "hooks",
    "held": "stored",
    "history": "record",
    "hits": "n_correct",
    "idx": "index",
    "images": "pictures",
    "inputs": "features",
    "labels": "classes",
    "layer": "stage",
    "leaf": "fresh",
    "logits": "scores",
    "loss": "batch_loss error",
    "losses": "errors loss_history",
    "low": "smallest",
    "high": "largest",
    "mask": "selection",
    "mean": "average",
    "memory": "storage",
    "model": "network",
    "moved": "on_device",
    "name": "key",
    "norm": "length",
    "old": "previous",
    "optimizer": "opt",
    "order": "shuffling",
    "out": "output",
    "padded": "extended",
    "params": "parameters",
    "part": "piece",
    "parts": "pieces",
    "powers": "exponents",
    "prediction": "output",
    "report": "summary",
    "result": "outcome answer",
    "row": "line",
    "rows": "indices",
    "same": "equal",
    "saved": "stored",
    "scale": "factor",
    "scheduler": "schedule",
    "seen": "collected",
    "shifted": "offset",
    "spread": "deviation",
    "squares": "squared",
    "std": "deviation",
    "step": "update",
    "table": "matrix",
    "total": "running_sum summed",
    "trained": "fitted",
    "value": "number",
    "values": "numbers",
    "var": "variance",
}


def synonyms_for_variables(texts: Iterable[str], taken: Iterable[str], number: int = 0) -> dict[str, str]:
    """Map each local variable that has a synonym in _SYNONYMS to it; `number` selects one of several synonyms.

    Parameters keep their names. So do variables that are read inside an f-string, because the syntax tree does not
    give their exact position there.
    """
    trees = [ast.parse(text) for text in texts]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    words = {word for text in (ast.unparse(tree) for tree in trees) for word in re.findall(r"\w+", text)} | {*taken}
    fixed = {node.arg for node in nodes if isinstance(node, ast.arg | ast.keyword)}
    fixed |= {inner.id for node in nodes if isinstance(node, ast.JoinedStr) for inner in _loaded(node)}
    new: dict[str, str] = {}
    for old in dict.fromkeys(node.id for node in nodes if isinstance(node, ast.Name) and _is_bound(node)):
        free = [each for each in _SYNONYMS.get(old, "").split() if each not in words and each not in new.values()]
        if free and old not in fixed:
            new[old] = free[number % len(free)]
    return new


def _is_bound(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _loaded(node: ast.AST) -> Iterator[ast.Name]:
    return (each for each in ast.walk(node) if isinstance(each, ast.Name))


def rename_program(text: str, names: Mapping[str, str], exercise: str) -> str:
    """Return a program with its variables renamed by `names`, and its answer by `faulty_program_name`.

    Running the program then leaves the reader's own answer, which has the exercise's name, unchanged.
    """
    known = {**names, exercise: faulty_program_name(exercise)}
    rows = text.splitlines()
    places = [(n.lineno, n.col_offset, n.id) for n in _loaded(ast.parse(text)) if n.id in known]
    for row, column, old in sorted(set(places), reverse=True):
        rows[row - 1] = rows[row - 1][:column] + known[old] + rows[row - 1][column + len(old) :]
    head = re.compile(rf"\b(def|class) {re.escape(exercise)}\b")
    return head.sub(rf"\1 {known[exercise]}", "\n".join(rows)) + "\n"
