"""Extract variables: split the expression of a program's last `return` into one assignment per subexpression."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

# What a step is called, by the method or function that makes it, or by the operator.
_NOUNS = {
    "abs": "sizes", "amax": "largest", "amin": "smallest", "arange": "numbers", "cat": "joined", "clone": "copied",
    "detach": "detached", "exp": "powers", "expand": "repeated", "flatten": "flat", "float": "as_floats",
    "grad": "gradients", "log": "logs", "max": "largest", "mean": "average", "min": "smallest", "norm": "length",
    "numel": "count", "permute": "turned", "reshape": "reshaped", "softmax": "shares", "sqrt": "root",
    "square": "squares", "squeeze": "squeezed", "stack": "stacked", "std": "deviation", "sum": "total",
    "transpose": "turned", "unsqueeze": "widened", "var": "variance", "view": "seen_as", "where": "chosen",
    "zeros": "zeros", "ones": "ones",
}  # fmt: skip
_OPERATIONS = {
    "Add": "added",
    "Sub": "difference",
    "Mult": "product",
    "MatMult": "product",
    "Div": "ratio",
    "Pow": "power",
}
_ALONE = (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.IfExp, ast.BoolOp, ast.NamedExpr)


def split_return_expression(text: str) -> str:
    """Return a program in which each step of its `return` has a line and a name; the same text if it has one step."""
    tree = ast.parse(text)
    (function, *more) = tree.body
    if more or not isinstance(function, ast.FunctionDef) or not isinstance(function.body[-1], ast.Return):
        return text
    result = function.body[-1]
    taken = set(re.findall(r"\w+", text))
    steps: list[ast.Assign] = []
    if result.value is not None:
        result.value = _shortened(result.value, steps, taken)
    function.body[-1:] = [*steps, result]
    return re.sub(r"'([^'\"\\]*)'", r'"\1"', ast.unparse(ast.fix_missing_locations(tree))) + "\n" if steps else text


def _shortened(node: ast.expr, steps: list[ast.Assign], taken: set[str]) -> ast.expr:
    """Return an expression whose operands are names; the steps that make them are appended to `steps`."""
    for place, index, operand in list(_operands(node)):
        if not _is_step(operand):
            continue
        short = _shortened(operand, steps, taken)
        name = _name(short, taken)
        if name is None:
            continue
        steps.append(ast.Assign([ast.Name(name, ast.Store())], short))
        if index is None:
            setattr(place[0], place[1], ast.Name(name, ast.Load()))
        else:
            getattr(*place)[index] = ast.Name(name, ast.Load())
    return node


def _operands(node: ast.expr) -> Iterator[tuple[tuple[ast.AST, str], int | None, ast.expr]]:
    """Yield each operand of an expression with the place where it stands: a field, or an item of one."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            yield (node.func, "value"), None, node.func.value
        yield from (((node, "args"), index, each) for index, each in enumerate(node.args))
        yield from (((keyword, "value"), None, keyword.value) for keyword in node.keywords)
    elif isinstance(node, ast.BinOp):
        yield (node, "left"), None, node.left
        yield (node, "right"), None, node.right
    elif isinstance(node, ast.UnaryOp):
        yield (node, "operand"), None, node.operand
    elif isinstance(node, ast.Attribute | ast.Subscript):
        yield (node, "value"), None, node.value
    elif isinstance(node, ast.Tuple | ast.List):
        yield from (((node, "elts"), index, each) for index, each in enumerate(node.elts))


def _is_step(node: ast.expr) -> bool:
    """Return whether an operand computes something by itself."""
    is_alone = any(isinstance(each, _ALONE) for each in ast.walk(node))
    return isinstance(node, ast.Call | ast.BinOp) and not is_alone


def _name(node: ast.expr, taken: set[str]) -> str | None:
    """Return a new name for a step, which is then taken; None if there is none."""
    key = ""
    if isinstance(node, ast.Call):
        key = getattr(node.func, "attr", getattr(node.func, "id", "")).rstrip("_")
    noun = _NOUNS.get(key) or (_OPERATIONS.get(type(node.op).__name__) if isinstance(node, ast.BinOp) else None)
    if isinstance(node, ast.BinOp) and ast.unparse(node).endswith("** 2"):
        noun = "squared"
    if not noun or noun in taken:
        return None
    taken.add(noun)
    return noun
