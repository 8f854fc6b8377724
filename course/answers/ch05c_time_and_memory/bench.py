"""Answers to `bench`: wrong ones that learners really give, and right ones that must pass."""

import statistics
import time
import timeit

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("bench")


bank.wrong(
    "no-sync",
    "You never call sync: what you time is how long it takes to hand the work over, not to do it.",
    also=("sync-only-before",),
    unless=r"sync\(",
    change={"for _ in range(iters):\n    sync()": "for _ in range(iters):", "fn()\nsync()": "fn()"},
)

bank.wrong(
    "no-warmup",
    "You leave the warm-up calls out. The first calls are slower than those that follow, and are not to be timed.",
    also=("times-the-warm-up",),
    unless=r"warmup\s*:|>=?\s*warmup",
    change={"for _ in range(warmup):\n    fn()": ""},
)

bank.wrong(
    "mean",
    "You return the mean. One call that something else got in the way of pulls it up; the median stays.",
    change={"statistics.median(times)": "sum(times) / len(times)"},
)


@bank.wrong(
    "all-calls-at-once",
    "Your result is a mean, with what was left over before the first call in it. For a median, time each call by itself, "
    "from where no work is left.",
)
def bench(fn, warmup, iters, sync):
    for _ in range(warmup):
        fn()
    begin = time.perf_counter()
    for _ in range(iters):
        fn()
    sync()
    return (time.perf_counter() - begin) / iters


bank.wrong(
    "sync-only-before",
    "When you read the clock again, you have not yet waited for the call, whose work has hardly begun. First `sync()`, then the clock.",
    change={"fn()\nsync()": "fn()"},
)

bank.wrong(
    "sync-only-after",
    "When you read the clock for the first timed call, the work of the warm-up is not done, and counts in its time. Wait before you read it.",
    change={"for _ in range(iters):\n    sync()": "for _ in range(iters):"},
)

bank.wrong(
    "minimum",
    "You return the shortest time. It tells what is possible, not what is usual; asked for is the median.",
    change={"statistics.median": "min"},
)

bank.wrong(
    "no-middle-of-two",
    "With an even number of times you take the upper of the two in the middle. The median is their mean.",
    slip=True,
    change={"statistics.median(times)": "sorted(times)[len(times) // 2]"},
)

bank.wrong(
    "lower-of-two",
    "With an even number of times you take the lower of the two in the middle, as torch.median does. Take their mean.",
    change={"statistics.median": "statistics.median_low"},
)

bank.wrong(
    "unsorted-middle",
    "You take the time of the call in the middle. The median is the middle of the sorted times.",
    change={"return statistics.median(times)": "return (times[len(times) // 2] + times[(len(times) - 1) // 2]) / 2"},
)

bank.wrong(
    "times-the-warm-up",
    "Among the times that count are those of the first calls, which are slower: make the warm-up calls first, and forget them.",
    change={"for _ in range(warmup):\n    fn()": "", "range(iters)": "range(warmup + iters)"},
)

bank.wrong(
    "clock-on-the-wall",
    "You read the clock on the wall, as `time.time()` and `datetime.now()` do: it may be set while you measure, and is "
    "coarse. Use time.perf_counter().",
    unless=r"(?s)perf_counter|process_time|thread_time|\A(?!.*(\btime\.time|from time import|\btime\(|now\())",  # of code that reads no such clock
    slip=True,
    change={"begin = time.perf_counter()": "begin = time.time()", "time.perf_counter() - begin": "time.time() - begin"},
)

bank.wrong(
    "clock-of-the-process",
    "You read a clock that counts only the seconds in which this process computes, as `process_time` and `thread_time` "
    "do: while fn or sync waits, it stands still. Use time.perf_counter().",
    slip=True,
    change={
        "begin = time.perf_counter()": "begin = time.process_time()",
        "time.perf_counter() - begin": "time.process_time() - begin",
    },
)

bank.wrong(
    "milliseconds",
    "Your result is in milliseconds. Asked for are seconds.",
    slip=True,
    change={"(time.perf_counter() - begin)": "(1000 * (time.perf_counter() - begin))"},
)

bank.wrong(
    "from-iters",
    "You take the warm-up out of the `iters` calls. It comes before them: `warmup` calls, and then `iters` that are timed.",
    change={
        "for _ in range(warmup):\n    fn()\ntimes = []": "spans = []",
        "times.append": "spans.append",
        "(times)": "(spans[warmup:])",
    },
)

bank.wrong(
    "sync-in-the-warm-up",
    "You wait before the first timed call only where there is a warm-up. With warmup=0, what was left over from before counts "
    "in its time.",
    change={
        "for _ in range(warmup):\n    fn()": "for _ in range(warmup):\n    fn()\n    sync()",
        "for _ in range(iters):\n    sync()": "for _ in range(iters):",
    },
)

bank.wrong(
    "at-least-one-warm-up",
    "With warmup=0 you make a warm-up call all the same. As many are asked for as `warmup` says, and that may be none.",
    change={"range(warmup)": "range(max(1, warmup))"},
)


@bank.right("repeated-by-timeit")
def bench(fn, warmup, iters, sync):
    for _ in range(warmup):
        fn()
    sync()
    return statistics.median(timeit.repeat(lambda: (fn(), sync()), number=1, repeat=iters))


@bank.right("minus-and-plus")
def bench(fn, warmup, iters, sync):
    [fn() for _ in range(warmup)]
    times = torch.empty(iters, dtype=torch.float64)
    sync()
    for i in range(iters):
        times[i] = -time.perf_counter()
        fn()
        sync()
        times[i] += time.perf_counter()
    low, high = times.sort().values[[(iters - 1) // 2, iters // 2]].tolist()
    return (low + high) / 2


@bank.right("sorted-by-hand")
def bench(fn, warmup, iters, sync):
    def one_call():
        begin = time.perf_counter()
        fn()
        sync()
        return time.perf_counter() - begin

    [fn() for _ in range(warmup)]
    sync()
    times = sorted(one_call() for _ in range(iters))
    return (times[iters // 2] + times[(iters - 1) // 2]) / 2


@bank.right("warm-up-one-by-one")
def bench(fn, warmup, iters, sync):
    times = []
    for i in range(warmup + iters):
        sync()
        begin = time.perf_counter()
        fn()
        sync()
        end = time.perf_counter()
        if i >= warmup:
            times.append(end - begin)
    return statistics.median(times)


@bank.right("quantile-of-a-tensor")
def bench(fn, warmup, iters, sync):
    from time import perf_counter

    for _ in range(warmup):
        fn()
        sync()
    sync()
    marks = [perf_counter()]
    for _ in range(iters):
        fn()
        sync()
        marks.append(perf_counter())
    marks = torch.tensor(marks, dtype=torch.float64)
    return (marks[1:] - marks[:-1]).quantile(0.5).item()


bank.told(
    "under-no-grad",
    "tracked",
    change={"begin = time.perf_counter()\nfn()": "begin = time.perf_counter()\nwith torch.no_grad():\n    fn()"},
)

bank.wrong(
    "clock-in-float32",
    "You keep readings of the clock in float32, which has about seven digits: of a clock that has run for long, the fractions of a second are lost.",
    change={
        "times = []": "begins, ends = [], []",
        "begin = time.perf_counter()": "begins.append(time.perf_counter())",
        "times.append(time.perf_counter() - begin)": "ends.append(time.perf_counter())",
        "return statistics.median(times)": "return (torch.tensor(ends) - torch.tensor(begins)).quantile(0.5).item()",
    },
)
