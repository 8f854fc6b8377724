"""Answers to `predict_grad_state`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("predict_grad_state")

bank.wrong(
    "zero-is-none",
    "You give None where .grad is 0.0. A gradient of 0 is a gradient: None says that there is none.",
    change={'"grad": grad': '"grad": grad or None'},
)

bank.wrong(
    "second-backward-adds",
    "Your second backward on the same y adds up and raises nothing. The first one freed what `**` had saved.",
    change={'"twice": (True, 2 * n, True)': '"twice": (True, 4 * n, False)'},
)


bank.wrong(
    "stopped-means-no-grad",
    "Where a second backward raises you say that there is no .grad. The first backward had done its work by then.",
    change={'"twice": (True, 2 * n, True)': '"twice": (True, None, True)'},
)


bank.wrong(
    "every-second-backward-raises",
    "You let every second backward raise. It raises only where something saved was freed; a sum saves nothing.",
    change={'"twice_sum": (True, 4.0, False)': '"twice_sum": (True, 2.0, True)'},
)


bank.wrong(
    "fresh-replaces",
    "Your second gradient replaces the first. backward adds to the .grad that is there.",
    change={'one * (2 if name in ("fresh", "twice_sum") else 1)': "one"},
    of="line-by-line",
)


bank.wrong(
    "middle-has-grad",
    "You give h a .grad. It is no leaf: unless asked to, autograd passes its gradient on and keeps nothing.",
    change={'"middle": (False, None, False)': '"middle": (False, 6 * n, False)'},
)


bank.told("retain-makes-a-leaf", "returned", change={'"kept": (False, 6 * n, False)': '"kept": (True, 6 * n, False)'})


bank.wrong(
    "retained-for-x",
    "For the kept h you give the gradient of x. From h to x another factor of 3 would come in.",
    change={'"kept": (False, 6 * n, False)': '"kept": (False, 18 * n, False)'},
)


bank.wrong(
    "detach-lets-through",
    "You let a gradient pass `detach`. What it returns has no history, and y has nothing to go back through.",
    change={'"detached": (True, None, True)': '"detached": (True, 2 * n, False)'},
)


bank.told("detach-is-silent", "returned", change={'"detached": (True, None, True)': '"detached": (True, None, False)'})


bank.wrong(
    "rebound-stays-leaf",
    "`x = x - 1` is no change to the leaf: it makes a new tensor and binds the name x to that.",
    change={'"rebound": (False, None, False)': '"rebound": (True, 2 * (n - 1), False)'},
)


bank.wrong(
    "no-grad-makes-untracked",
    "After `no_grad` you take x for a tensor that does not require grad. Only the update has no graph; x still requires grad.",
    change={'"under": (True, 2 * (n - 1), False)': '"under": (True, None, True)'},
)


bank.wrong(
    "old-value-counts",
    "Under `no_grad` the update has no graph, but it happens: the gradient is taken at the new x.",
    change={'"under": (True, 2 * (n - 1), False)': '"under": (True, 2 * n, False)'},
)


bank.wrong(
    "leaf-in-place-works",
    "You let a leaf that requires grad be changed in place outside `no_grad`. torch refuses that.",
    change={'"on_leaf": (True, None, True)': '"on_leaf": (True, 4 * n, False)'},
)


bank.wrong(
    "in-place-always-raises",
    "You let `y += 1` stop the program after `y = x * 2`. `* 2` saves nothing of y, so the change does no harm.",
    change={'"after_twice": (True, 2.0, False)': '"after_twice": (True, None, True)'},
)


bank.wrong(
    "in-place-never-raises",
    "You let `y += 1` pass after `exp`. Its derivative is its result, which it saved, and which you changed.",
    change={'"after_exp": (True, None, True)': '"after_exp": (True, math.exp(n), False)'},
)


bank.wrong(
    "forgets-the-two",
    "The derivative of x squared is x in your answers. A factor is missing.",
    slip=True,
    change={"2 * at": "at"},
    of="line-by-line",
)


bank.wrong(
    "numbers-of-the-example",
    "Your numbers are those for n = 3.0, as in the example. Where .grad hangs on n, compute it from n.",
    change={"name, n = program": "name, n = program[0], 3.0"},
)


@bank.wrong(
    "runs-the-programs",
    "You run the programs. That is a good way to check a prediction, but the prediction is what is asked for.",
)
def predict_grad_state(program):
    name, n = program
    x = torch.tensor(n, dtype=torch.float64, requires_grad=True)
    about, raises = x, False
    try:
        if name in ("once", "twice"):
            y = x**2
            y.backward()
            if name == "twice":
                y.backward()
        elif name == "fresh":
            (x**2).backward()
            (x**2).backward()
        elif name == "twice_sum":
            y = x + x
            y.backward()
            y.backward()
        elif name in ("middle", "kept"):
            about = h = x * 3
            if name == "kept":
                h.retain_grad()
            (h**2).backward()
        elif name == "detached":
            y = x.detach() ** 2
            y.backward()
        elif name == "rebound":
            about = x = x - 1
            (x**2).backward()
        elif name == "under":
            with torch.no_grad():
                x -= 1
            (x**2).backward()
        elif name == "on_leaf":
            x.mul_(2)
            (x**2).backward()
        else:
            y = x.exp() if name == "after_exp" else x * 2
            y += 1
            y.backward()
    except RuntimeError:
        raises = True
    grad = about.grad if about.is_leaf or about.retains_grad else None
    return {"leaf": about.is_leaf, "grad": None if grad is None else grad.item(), "raises": raises}


bank.wrong(
    "zero-for-none",
    "You give 0.0 where nothing has written a .grad. It is None until a backward puts something there.",
    change={'"grad": grad': '"grad": 0.0 if grad is None else grad'},
)


bank.wrong(
    "update-makes-a-middle",
    "You take x for no leaf after its update under `no_grad`. There `x -= 1` records nothing: x is the same leaf as before.",
    change={'"under": (True, 2 * (n - 1), False)': '"under": (False, None, False)'},
)


@bank.right("sets-of-names")
def predict_grad_state(program):
    name, n = program
    leaf = name not in {"middle", "kept", "rebound"}
    raises = name in {"twice", "detached", "on_leaf", "after_exp"}
    slopes = {"once": 2 * n, "twice": 2 * n, "fresh": 4 * n, "kept": 6 * n, "under": 2 * n - 2}
    slopes |= {"twice_sum": 4, "after_twice": 2}
    return {"leaf": leaf, "grad": slopes.get(name), "raises": raises}


@bank.right("match")
def predict_grad_state(program):
    match program:
        case ("once" | "twice" as name, n):
            return {"leaf": True, "grad": 2.0 * n, "raises": name == "twice"}
        case ("fresh", n):
            return {"leaf": True, "grad": 2.0 * n + 2.0 * n, "raises": False}
        case ("twice_sum" | "after_twice" as name, _):
            return {"leaf": True, "grad": 4.0 if name == "twice_sum" else 2.0, "raises": False}
        case ("middle" | "rebound", _):
            return {"leaf": False, "grad": None, "raises": False}
        case ("kept", n):
            return {"leaf": False, "grad": 2.0 * (3.0 * n), "raises": False}
        case ("under", n):
            return {"leaf": True, "grad": 2.0 * (n - 1.0), "raises": False}
    return {"leaf": True, "grad": None, "raises": True}


@bank.right("line-by-line")
def predict_grad_state(program):
    name, n = program
    state = {"leaf": True, "grad": None, "raises": False}
    if name in ("detached", "on_leaf", "after_exp"):
        state["raises"] = True
        return state
    if name in ("middle", "kept", "rebound"):
        state["leaf"] = False
        if name == "kept":
            state["grad"] = 3 * n * 2
        return state
    at = n - 1 if name == "under" else n
    one = {"twice_sum": 2, "after_twice": 2}.get(name, 2 * at)
    state["grad"] = one * (2 if name in ("fresh", "twice_sum") else 1)
    state["raises"] = name == "twice"
    return state


bank.survives(
    {
        "2 * n -> n * 2": "Numbers multiply in any order.",
        "2 * n -> n * 2 (2)": "Numbers multiply in any order.",
        "4 * n -> n * 4": "Numbers multiply in any order.",
        "6 * n -> n * 6": "Numbers multiply in any order.",
        "2 * (n - 1) -> (n - 1) * 2": "Numbers multiply in any order.",
    }
)
