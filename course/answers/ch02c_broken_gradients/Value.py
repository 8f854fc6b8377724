"""Answers to `Value`: wrong ones that learners really give, and right ones that must pass."""

import math

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("Value")


bank.wrong(
    "overwrites-instead-of-adds",
    "You assign the gradient of a parent. A Value that is used twice gets two contributions: add them up.",
    change={"slopes[parent] += slope * slopes[value]": "slopes[parent] = slope * slopes[value]"},
    of="as-most-begin",
)

bank.wrong(
    "no-visited-set",
    "Your order holds a Value once for every path to it, so that it passes its gradient on several times.",
    change={"seen.add(value)": ""},
)

bank.wrong(
    "lost-minus-sign",
    "The derivative of tanh is 1 minus its square. You add the square.",
    change={"1.0 - t * t": "1.0 + t * t"},
    of="as-most-begin",
)

bank.wrong(
    "tanh-of-the-input",
    "The derivative of tanh is 1 minus the square of its result. You square the input.",
    change={"1.0 - t * t": "1.0 - self.data * self.data"},
    of="as-most-begin",
)

bank.wrong(
    "tanh-not-squared",
    "The derivative of tanh is 1 minus its square; you forgot to square.",
    change={"1.0 - t * t": "1.0 - t"},
    of="as-most-begin",
)

bank.wrong(
    "factors-swapped",
    "In a product, the derivative by one factor is the other one. You give each factor its own value.",
    change={"(self, other.data), (other, self.data)": "(self, self.data), (other, other.data)"},
    of="as-most-begin",
)

bank.wrong(
    "sum-like-product",
    "You give a sum the derivatives of a product. By each of its terms, a sum has the derivative 1.",
    change={"(self, 1.0), (other, 1.0)": "(self, other.data), (other, self.data)"},
    of="as-most-begin",
)

bank.wrong(
    "one-parent-only",
    "Your operations remember their left operand only: no gradient ever reaches the right one.",
    change={
        "(self, 1.0), (other, 1.0)": "(self, 1.0),",
        "(self, other.data), (other, self.data)": "(self, other.data),",
    },
    of="as-most-begin",
)

bank.wrong(
    "no-seed",
    "No grad arrives anywhere. The walk begins at the result, whose derivative by itself is 1, and goes on to all"
    " that it was made from.",
    change={"slopes[self] = 1.0": ""},
    of="as-most-begin",
)


@bank.wrong("wrong-order", "You pass a Value on before the contributions of all its users have come in.")
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 - t * t),))

    def backward(self):
        order, slopes = [self], {self: 1.0}
        for value in order:
            value.grad += slopes[value]
            for parent, slope in value.parents:
                if parent not in slopes:
                    order.append(parent)
                    slopes[parent] = 0.0
                slopes[parent] += slope * slopes[value]


bank.wrong(
    "passes-old-grad-on",
    "A Value on the way keeps its grad from an earlier result, and you pass that on once more with the new one.",
    change={
        "arrived = dict.fromkeys(order, 0.0)\narrived[self] = 1.0": "self.grad = 1.0",
        "value.grad += arrived[value]": "",
        "arrived[parent] += slope * arrived[value]": "parent.grad += slope * value.grad",
    },
)

bank.wrong(
    "clears-what-was-there",
    "What an earlier result has left in grad is lost: you set it to 0, or overwrite it. Add to it.",
    change={"visit(self)": "visit(self)\nfor value in order:\n    value.grad = 0.0"},
    of="as-most-begin",
)

bank.wrong(
    "result-without-grad",
    "The grad of the result itself stays 0. It becomes 1.0.",
    change={"value.grad += slopes[value]": "if value is not self:\n    value.grad += slopes[value]"},
    of="as-most-begin",
)

bank.wrong(
    "direct-parents-only",
    "Only the Values that the result is made from directly get a gradient. Each of these passes on what has arrived at it, and "
    "so on, down to those that you began with.",
    change={
        "for value in reversed(order):\n    value.grad += arrived[value]\n    for parent, slope in value.parents:\n        arrived[parent] += slope * arrived[value]": "self.grad = 1.0\nfor parent, slope in self.parents:\n    parent.grad += slope * self.grad"
    },
)

bank.wrong(
    "leaves-only",
    "You fill the grad of the leaves, and not that of the Values on the way to the result.",
    change={"value.grad += slopes[value]": "if value is self or not value.parents:\n    value.grad += slopes[value]"},
    of="as-most-begin",
)


@bank.wrong(
    "queue-of-visits",
    "Whenever you meet a Value, you pass on all that it has gathered so far: what was passed on before counts twice.",
)
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 - t * t),))

    def backward(self):
        self.grad = 1.0
        queue = [self]
        while queue:
            value = queue.pop(0)
            for parent, slope in value.parents:
                parent.grad += slope * value.grad
                queue.append(parent)


bank.wrong(
    "calls-backward-of-parents",
    "Whenever you come to a parent you pass on its whole grad: what an earlier path has brought goes along once more.",
    change={"parent.backward(slope * incoming)": "parent.backward(slope * self.grad)"},
    of="every-path",
)

bank.wrong(
    "equal-numbers-are-one",
    "Two Values that hold the same number are one to you, and one of them gets no gradient. Tell them apart "
    "by what they are, not by their data.",
    change={
        "if value not in seen:\n    seen.add(value)": "if value.data not in seen:\n    seen.add(value.data)",
        "arrived[parent] += slope * arrived[value]": "arrived[parent] = arrived.get(parent, 0.0) + slope * arrived[value]",
    },
)

bank.wrong(
    "overwrites-the-grad",
    "You write a parent's grad where you should add to it: what came on another path is lost.",
    change={
        "arrived = dict.fromkeys(order, 0.0)\narrived[self] = 1.0": "self.grad = 1.0",
        "value.grad += arrived[value]": "",
        "arrived[parent] += slope * arrived[value]": "parent.grad = slope * value.grad",
    },
)


@bank.right("every-path")
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, [(self, 1), (other, 1)])

    def __mul__(self, other):
        return Value(self.data * other.data, [(self, other.data), (other, self.data)])

    def tanh(self):
        e = math.exp(2 * self.data)
        return Value((e - 1) / (e + 1), [(self, 4 * e / (e + 1) ** 2)])

    def backward(self, incoming=1.0):
        self.grad += incoming
        for parent, slope in self.parents:
            parent.backward(slope * incoming)


@bank.right("closures")
class Value:
    def __init__(self, data, parents=(), rule=None):
        self.data, self.grad, self.parents, self.rule = data, 0.0, parents, rule

    def __add__(self, other):
        return Value(self.data + other.data, (self, other), lambda g: (g, g))

    def __mul__(self, other):
        return Value(self.data * other.data, (self, other), lambda g: (g * other.data, g * self.data))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, (self,), lambda g: (g * (1 - t**2),))

    def backward(self):
        users, stack, met = {}, [self], {id(self)}
        while stack:
            for parent in stack.pop().parents:
                users[id(parent)] = users.get(id(parent), 0) + 1
                if id(parent) not in met:
                    met.add(id(parent))
                    stack.append(parent)
        arrived, ready = {id(self): 1.0}, [self]
        while ready:
            value = ready.pop()
            mine = arrived[id(value)]
            value.grad += mine
            shares = value.rule(mine) if value.rule else ()
            for parent, share in zip(value.parents, shares):
                arrived[id(parent)] = arrived.get(id(parent), 0.0) + share
                users[id(parent)] -= 1
                if users[id(parent)] == 0:
                    ready.append(parent)


@bank.right("numbered")
class Value:
    count = 0

    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents
        Value.count += 1
        self.number = Value.count

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        return Value(math.tanh(self.data), ((self, 1 / math.cosh(self.data) ** 2),))

    def backward(self):
        waiting = {self.number: (self, 1.0)}
        while waiting:
            value, slope = waiting.pop(max(waiting))
            value.grad += slope
            for parent, factor in value.parents:
                before = waiting.get(parent.number, (parent, 0.0))[1]
                waiting[parent.number] = (parent, before + factor * slope)


@bank.right("as-most-begin")
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 - t * t),))

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for parent, _ in value.parents:
                    visit(parent)
                order.append(value)

        visit(self)
        slopes = {value: 0.0 for value in order}
        slopes[self] = 1.0
        for value in reversed(order):
            value.grad += slopes[value]
            for parent, slope in value.parents:
                slopes[parent] += slope * slopes[value]


@bank.wrong(
    "once-for-each-arrow",
    "You visit a Value once for each arrow that leads to it, and pass on each time all that it has gathered so far.",
)
class Value:
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1 - t * t),))

    def backward(self):
        self.grad = 1.0
        to_visit = [self]
        while to_visit:
            value = to_visit.pop()
            for parent, derivative in value.parents:
                parent.grad += derivative * value.grad
                to_visit.append(parent)


@bank.wrong(
    "waits-for-every-use",
    "In your engine a Value passes its grad on only after every expression that uses it has sent a gradient back. An "
    "expression on which backward was not called sends none.",
)
class Value:
    def __init__(self, data):
        self.data = data
        self.grad = 0.0
        self.uses = 0
        self.pass_on = lambda: None

    def made(self, data, slopes):
        out = Value(data)
        for parent, _ in slopes:
            parent.uses += 1

        def pass_on():
            if out.uses > 1:
                out.uses -= 1
                return
            for parent, slope in slopes:
                parent.grad += slope * out.grad
            for parent, _ in slopes:
                parent.pass_on()

        out.pass_on = pass_on
        return out

    def __add__(self, other):
        return self.made(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return self.made(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return self.made(t, ((self, 1.0 - t * t),))

    def backward(self):
        self.grad = 1.0
        self.pass_on()


@bank.wrong(
    "waits-for-no-use-to-be-left",
    "In your engine even the result passes its grad on only after every expression that uses it has sent a gradient back. An "
    "expression on which backward was not called sends none.",
)
class Value:
    def __init__(self, data):
        self.data = data
        self.grad = 0.0
        self.uses = 0
        self.pass_on = lambda: None

    def made(self, data, slopes):
        out = Value(data)
        for parent, _ in slopes:
            parent.uses += 1

        def pass_on():
            if out.uses > 0:
                return
            for parent, slope in slopes:
                parent.grad += slope * out.grad
                parent.uses -= 1
            for parent in dict(slopes):
                parent.pass_on()

        out.pass_on = pass_on
        return out

    def __add__(self, other):
        return self.made(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return self.made(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return self.made(t, ((self, 1.0 - t * t),))

    def backward(self):
        self.grad = 1.0
        self.pass_on()


bank.survives(
    {
        "self.data + other.data -> other.data + self.data": "Addition does not mind the order.",
        "((self, 1.0), (other, 1.0)) -> ((other, 1.0), (self, 1.0))": "Contributions are added up, in any order.",
        "self.data * other.data -> other.data * self.data": "Numbers multiply in any order.",
        "((self, other.data), (other, self.data)) -> ((other, self.data), (self, other.data))": "Contributions are added up, in any order.",
        "order -> seen": "The dict starts with a 0 for each Value; the walk goes by the list.",
        "order -> arrived (2)": "The dict was made from the list and keeps its order.",
        "seen -> order": "When a Value is met again, its first visit is over: there are no circles, so it stands in the list.",
        "slope * arrived[value] -> arrived[value] * slope": "Numbers multiply in any order.",
    }
)


@bank.told("torch-inside", "by_torch")
class Value:
    def __init__(self, data):
        self.held = data if isinstance(data, torch.Tensor) else torch.tensor(float(data), requires_grad=True)
        if self.held.grad_fn is not None:
            self.held.retain_grad()

    @property
    def data(self):
        return self.held.item()

    @property
    def grad(self):
        return 0.0 if self.held.grad is None else self.held.grad.item()

    def __add__(self, other):
        return Value(self.held + other.held)

    def __mul__(self, other):
        return Value(self.held * other.held)

    def tanh(self):
        return Value(self.held.tanh())

    def backward(self):
        self.held.backward(retain_graph=True)
