"""Explain error messages of Python and torch in words for beginners.

torch's own message names the operation that failed and seldom the idea behind it. Each sentence here is true of every
program that raises the error, whatever else is wrong with the program.
"""

from __future__ import annotations

import re

_MEANINGS = (
    (r"^RecursionError\b", "It calls itself again and again, and never comes to an end."),
    (
        r"element 0 of tensors does not require grad",
        "Nothing behind what is differentiated there requires grad: what comes in need not, and `detach`, `no_grad` or "
        "`item` cuts a graph off.",
    ),
    (
        r"One of the differentiated Tensors does not require grad",
        "A gradient is asked for with respect to a tensor that does not require grad.",
    ),
    (
        r"differentiated Tensor.* appears to not have been used",
        "What is differentiated there was not computed from that very tensor: a copy or a part of it is another one.",
    ),
    (
        r"grad can be implicitly created only for scalar outputs",
        "A gradient starts from one number, and here there are several: say which number of them is meant.",
    ),
    (
        r"backward through the graph a second time",
        "That graph has been gone back through already, and has let go of what it had saved.",
    ),
    (
        r"leaf Variable that requires grad is being used in an in-place operation",
        "A leaf that requires grad may be changed in place only where no graph is built.",
    ),
    (
        r"modified by an inplace operation",
        "Something was changed in place that a node had saved for the way back.",
    ),
    (
        r"must match the size of tensor b",
        "Two shapes meet that do not fit: write them one below the other, with their right ends together.",
    ),
    (
        r"mat1 and mat2 shapes cannot be multiplied",
        "In a matrix product each row of the left one meets a column of the right one: the two inner lengths must "
        "agree.",
    ),
    (
        r"shape '.*' is invalid for input of size",
        "That shape holds another number of elements than there are: which of its lengths is not that of this input?",
    ),
    (
        r"view size is not compatible",
        "These numbers do not lie in memory so that equal steps could read them in the new shape, and `view` never "
        "copies.",
    ),
    (
        r"Dimension out of range",
        "The tensor has fewer axes than that at this place: print its shape before the line.",
    ),
    (
        r"output subscript .* appears more than once",
        "Each axis of a result needs a letter of its own.",
    ),
    (
        r"is out of bounds|index out of range",
        "A place is asked for that is not there: counted from 0, the last one is the length minus 1.",
    ),
    (
        r"expect(?:s|ed) a non-empty|input\.numel\(\) == 0|from empty tensor",
        "What is handed in there is empty, a list or a tensor with a length of 0, and one element at least is needed.",
    ),
    (
        r"object of type 'generator' has no len|'generator' object is not subscriptable",
        "A generator gives one thing after the other, and neither knows how many come nor keeps them.",
    ),
    (
        r"'(?:float|int|bool)' object has no attribute",
        "That is a plain Python number, as `item()` and arithmetic on numbers give: it has none of a tensor's methods.",
    ),
    (
        r"only change requires_grad flags of leaf variables",
        "A tensor that was computed cannot be told to stop requiring grad; another one can be made of it that does "
        "not.",
    ),
    (
        r"can't be cast to the desired output type",
        "What is changed in place keeps its dtype, and that dtype does not hold such numbers.",
    ),
    (
        r"expected (?:m1 and m2|scalar type|both).*|must have the same dtype",
        "Two dtypes meet where one and the same is needed.",
    ),
    (
        r"not compiled with CUDA|No CUDA GPUs are available|Found no NVIDIA driver|Cannot access accelerator device",
        "Something is asked of a card that this machine, or this torch, has not. A `torch.device` alone is a name: to "
        "make one, no card has to be there.",
    ),
    (
        r"not on the expected device|tensors to be on the same device",
        "Tensors on two devices meet there: one has stayed behind, or was made in another place than the other.",
    ),
    (
        r"Cannot copy out of meta tensor",
        "A tensor on the meta device has a shape and no numbers: there is nothing to bring to another device.",
    ),
    (
        r"iteration over a 0-d tensor|len\(\) of a 0-d tensor",
        "A tensor without axes holds one number: there is nothing to go through or to count.",
    ),
    (
        r"not implemented for '(?:Byte|Char|Short|Int|Long|Bool|Half|BFloat16)'",
        "That function of torch does not take numbers of this dtype.",
    ),
    (
        r"unscale_\(\) has already been called",
        "Gradients are unscaled once in each round, and a round ends with the scaler's update: is one left out?",
    ),
    (
        r"The total norm of order .* is non-finite",
        "A gradient is inf or nan, as after an overflow, and clipping was told to raise an error then.",
    ),
    (
        r"No inf checks were recorded",
        "The scaler has looked at no gradient since its last update: none is there, or nobody has called it to look.",
    ),
    (
        r"returned an incorrect number of gradients",
        "`backward` gives one thing back for each input of `forward` after `ctx`, in their order: a gradient, or None.",
    ),
    (
        r"Boolean value of Tensor with more than one value",
        "One True or False is needed there, as by an `if`, an `and` or a `not`, and a comparison of tensors has one "
        "for each entry.",
    ),
    (
        r"Index tensor must have the same number of dimensions",
        "The index there has to have as many axes as the tensor that it points into: print both shapes.",
    ),
    (
        r"Index put requires the source and destination dtypes match",
        "What is written has another dtype than the tensor it is written into. A new tensor of zeros or ones is "
        "float32 where no `dtype` is named.",
    ),
    (
        r"Expected size for first two dimensions of batch2",
        "In a product of two batches of matrices the batches are equally long, and the columns of the left ones as "
        "many as the rows of the right ones: print both shapes.",
    ),
    (
        r"The expanded size of the tensor .* must match the existing size",
        "Where a tensor is expanded to a shape, or is written into another tensor, axes of length 1 are repeated and "
        "no others: compare both shapes from their right ends.",
    ),
    (
        r"Can't call numpy\(\) on Tensor that requires grad",
        "NumPy builds no graph: what goes through it gets no gradient.",
    ),
    (
        r"Mismatch in shape: grad_output",
        "What comes in from above holds one number for each number of the tensor that is differentiated: print both "
        "shapes.",
    ),
    (
        r"'Tensor' object has no attribute '(?:copy|astype)'",
        "NumPy's arrays have a method of that name. A tensor has one for it too, under another name.",
    ),
    (
        r"^UnboundLocalError\b",
        "The name has been given no value there: what gives it one, in a loop or an `if` perhaps, has not run.",
    ),
    (
        r"^KeyError\b",
        "A dict is asked for a key that it does not hold.",
    ),
    (
        r"takes .*positional arguments? but \d+ (?:was|were) given",
        "More is handed to that function than its head, the line with `def`, has parameters for.",
    ),
    (
        r"cannot assign '.*' as parameter",
        "Under a name that holds a parameter, a module takes no plain tensor: numbers are copied into the parameter "
        "that is there.",
    ),
    (
        r"no attribute '_(?:parameters|buffers|modules|\w+_hooks)'",
        "A module that does not begin with `super().__init__()` lacks what every module needs.",
    ),
    (
        r"must be Tensor, not (?:ReLU|GELU|Tanh|Sigmoid|Softmax|Sequential)\b",
        "A module stands there in place of a tensor. `nn.ReLU(x)`, for one, makes a module and computes nothing: make "
        "it first, and call it.",
    ),
    (
        r"\bNoneType\b",
        "Something there is None, as a `.grad` is before the first backward and for a tensor that is no leaf, the bias "
        "or weight of a layer made without one, a search that finds nothing, or the result of a function without "
        "`return`.",
    ),
)


def error_meaning(error: str) -> str:
    """Return the explanation of an error, given as "Type: message"; "" if there is none."""
    return next((sentence for pattern, sentence in _MEANINGS if re.search(pattern, error)), "")
