"""Answers to `amp_train_step`: wrong ones that learners really give, and right ones that must pass."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.course.answer_bank import AnswerBank
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_LOSS_MESSAGES

bank = AnswerBank("amp_train_step")


bank.wrong(
    "targets-in-16-bits",
    "Your targets are rounded to 16 bits before they are compared. Autocast does that to products alone: hand y over as it is.",
    change={"F.mse_loss(model(x), y)": "F.mse_loss(model(x), y.to(dtype))"},
)

bank.wrong(
    "cut-loss",
    DETACHED_LOSS_MESSAGES["cut_loss"],
    change={"F.mse_loss(model(x), y)": "F.mse_loss(model(x).detach(), y).requires_grad_()"},
)

bank.told("steps-twice", "updates", change={"scaler.update()": "optimizer.step()\nscaler.update()"})

bank.told("autocast-for-cuda", "other_device", change={"device_type, dtype=dtype": '"cuda", dtype=dtype'})

bank.wrong(
    "clip-before-unscale",
    "You clip while the gradients are still `scale` times too long: what is left is far shorter than max_norm.",
    change={
        "scaler.unscale_(optimizer)": "nn.utils.clip_grad_norm_(model.parameters(), max_norm)\nscaler.unscale_(optimizer)",
        "nn.utils.clip_grad_norm_(model.parameters(), max_norm)": "",
    },
)

bank.wrong(
    "step-without-scaler",
    "You call `optimizer.step()` yourself. The scaler would skip the step after an overflow; nobody does now.",
    unless=r"scaler\.step\(",
    change={"scaler.step(optimizer)": "optimizer.step()"},
)

bank.wrong(
    "no-update",
    "You never call `scaler.update()`: the scale stays as it is after an overflow, and never grows.",
    unless=r"\.update\(",
    change={"scaler.update()": ""},
)

bank.wrong(
    "unscale-twice",
    "You call unscale_ twice in one step. The second call would divide again, so torch refuses it.",
    change={"scaler.step(optimizer)": "scaler.unscale_(optimizer)\nscaler.step(optimizer)"},
)


bank.told(
    "backward-under-autocast", "backward", change={"scaler.scale(loss).backward()": "    scaler.scale(loss).backward()"}
)


@bank.wrong(
    "everything-under-autocast",
    "All of your step stands under autocast. Model and loss belong there; backward and what follows do not.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
    return loss.detach()


bank.wrong(
    "wrong-device-scaler",
    'You make a scaler for "cuda". Where there is no CUDA it does nothing at all; use the one that is given.',
    also=("scaler-of-its-own",),
    change={"optimizer.zero_grad()": 'optimizer.zero_grad()\nscaler = torch.amp.GradScaler("cuda", enabled=x.is_cuda)'},
)

bank.wrong(
    "scaler-of-its-own",
    "You make a new scaler in each step: what the given one has learned of overflows is never used.",
    change={"optimizer.zero_grad()": "optimizer.zero_grad()\nscaler = torch.amp.GradScaler(device_type)"},
)

bank.wrong(
    "update-twice",
    "You update the scaler twice. Once in each step: the second call finds nothing to go by.",
    change={"scaler.update()": "scaler.update()\nscaler.update()"},
)

bank.wrong(
    "no-update-after-overflow",
    "After an overflow you leave the update out, and then above all it is needed: it halves the factor.",
    change={
        "nn.utils.clip_grad_norm_(model.parameters(), max_norm)": "norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)",
        "scaler.step(optimizer)\nscaler.update()": "if torch.isfinite(norm):\n    scaler.step(optimizer)\n    scaler.update()",
    },
)

bank.wrong(
    "update-before-the-step",
    "Your gradients are divided once more in the step. The scaler does not know that they have been: it was "
    "updated before, or you divided them yourself.",
    change={"scaler.step(optimizer)": "scaler.update()\nscaler.step(optimizer)", "scaler.update()": ""},
)

bank.wrong(
    "no-clipping",
    "You never clip: max_norm is not used.",
    unless=r"clip_grad",
    change={"nn.utils.clip_grad_norm_(model.parameters(), max_norm)": ""},
)

bank.wrong(
    "clips-after-the-step",
    "You clip after the step: the parameters have been moved by then, with gradients of any length.",
    change={
        "scaler.unscale_(optimizer)": "scaler.unscale_(optimizer)\nscaler.step(optimizer)",
        "scaler.step(optimizer)": "",
    },
)

bank.wrong(
    "clip-by-value",
    "You limit each entry by itself. Clipping to a norm shortens all gradients together, by one factor.",
    change={"clip_grad_norm_": "clip_grad_value_"},
)

bank.wrong(
    "forward-outside",
    "When your model runs, autocast is off for the `device_type` of the call, so the model computes in float32. The call "
    "of the model belongs inside an autocast block for this type.",
    change={"optimizer.zero_grad()": "optimizer.zero_grad()\nprediction = model(x)", "model(x)": "prediction"},
)

bank.wrong(
    "model-in-16-bits",
    "You turn the model itself to 16 bits. Its weights are to stay in float32; autocast makes 16-bit copies of them.",
    also=("whole-model",),
    change={
        "optimizer.zero_grad()": "optimizer.zero_grad()\nmodel.to(dtype)",
        "with torch.autocast(device_type, dtype=dtype):": "loss = F.mse_loss(model(x.to(dtype)), y.to(dtype))",
        "loss = F.mse_loss(model(x), y)": "",
    },
)

bank.wrong(
    "ignores-dtype",
    "You leave dtype out: autocast takes its usual one, whatever was asked for.",
    also=("always-bfloat16",),
    change={"device_type, dtype=dtype": "device_type"},
)

bank.wrong(
    "always-bfloat16",
    "Your autocast lowers to bfloat16 here, whatever `dtype` says. Hand dtype on to it.",
    change={"dtype=dtype": "dtype=torch.bfloat16"},
)


bank.wrong(
    "divides-twice",
    "Your gradients are divided by the factor once too often. Either you divide them yourself, which `unscale_` does "
    "already, or backward began at the loss itself, so that they were never multiplied.",
    change={
        "scaler.unscale_(optimizer)": "scaler.unscale_(optimizer)\nfor p in model.parameters():\n    if p.grad is not None:\n        p.grad /= scaler.get_scale()"
    },
)


bank.wrong(
    "no-scaling",
    "You call backward on the loss itself. unscale_ then divides gradients that were never multiplied.",
    also=("divides-twice",),
    change={"scaler.scale(loss).backward()": "scaler.scale(torch.zeros(()))\nloss.backward()"},
)

bank.wrong(
    "never-clears",
    "You never clear old gradients, so those of earlier batches are added to this one's.",
    unless=r"zero_grad|\.grad = None|zero_\(",
    change={"optimizer.zero_grad()": ""},
)

bank.wrong(
    "clears-after-backward",
    "You clear the gradients between backward and the step: nothing is left to step with.",
    change={
        "optimizer.zero_grad()": "",
        "scaler.unscale_(optimizer)": "scaler.unscale_(optimizer)\noptimizer.zero_grad(set_to_none=False)",
    },
)

bank.wrong(
    "returns-scaled-loss",
    "You return the scaled loss. It is `scale` times too large to be looked at.",
    change={"scaler.scale(loss).backward()": "loss = scaler.scale(loss)\nloss.backward()"},
)

bank.wrong(
    "divides-by-the-next-factor",
    "You divide the scaled loss by the factor that the scaler has after its update. By then it may be another one.",
    change={
        "F.mse_loss(model(x), y)": "scaler.scale(F.mse_loss(model(x), y))",
        "scaler.scale(loss).backward()": "loss.backward()",
        "loss.detach()": "loss.detach() / scaler.get_scale()",
    },
)

bank.wrong(
    "returns-a-record",
    "You return the loss with its graph: as long as somebody keeps it, so are the saved tensors of the step.",
    change={"loss.detach()": "loss"},
)

bank.wrong(
    "returns-a-float",
    "You return a float. Asked for is a scalar tensor: item() would wait for the device in each step.",
    change={"loss.detach()": "loss.item()"},
)

bank.wrong(
    "sum-of-squares",
    "Your loss is the sum of the squared errors. Asked for is their mean.",
    slip=True,
    change={"F.mse_loss(model(x), y)": 'F.mse_loss(model(x), y, reduction="sum")'},
)

bank.wrong(
    "loss-in-16-bits",
    "You turn targets and loss to 16 bits. Losses stay in float32, where small differences are still told apart.",
    change={"F.mse_loss(model(x), y)": "((model(x) - y.to(dtype)) ** 2).to(dtype).mean().to(dtype)"},
)

bank.wrong(
    "half-mse",
    "Your loss went through 16 bits: y, the difference, or the loss itself was turned to them. It is to be worked out in "
    "float32, as F.mse_loss does in the block.",
    change={
        "loss = F.mse_loss(model(x), y)": "difference = model(x) - y.to(dtype)\nloss = (difference**2).mean().float()"
    },
)


bank.wrong(
    "each-alone",
    "You clip the gradient of each parameter by itself. The norm is that of all gradients together: one call for all of them.",
    change={
        "nn.utils.clip_grad_norm_(model.parameters(), max_norm)": "for weights in model.parameters():\n    nn.utils.clip_grad_norm_([weights], max_norm)"
    },
)


bank.wrong(
    "whole-model",
    "In your step the model itself goes to 16 bits. Autocast lowers copies for the products, and leaves the weights in float32.",
    change={
        "optimizer.zero_grad()": "model.to(dtype)\noptimizer.zero_grad()",
        "model(x)": "model(x.to(dtype)).float()",
    },
)

bank.wrong(
    "zero-last",
    "You clear the gradients at the end alone: those that are there when the step begins are added to, and yours are gone after it.",
    change={"optimizer.zero_grad()": "", "scaler.update()": "scaler.update()\noptimizer.zero_grad()"},
)

bank.wrong(
    "cpu-named",
    "Your autocast is that of the CPU, whatever `device_type` says. On a GPU nothing would be lowered.",
    change={"device_type, dtype=dtype": '"cpu", dtype=dtype'},
)

bank.wrong(
    "leaves-early",
    "Where the loss is not finite you return at once. The scaler is never told: its factor stays too large. It skips the step itself.",
    change={
        "scaler.scale(loss).backward()": "if not torch.isfinite(loss):\n    return loss.detach()\nscaler.scale(loss).backward()"
    },
)

bank.wrong(
    "by-rows",
    "You add up the squared errors and divide by the rows. The mean is over all entries, of all columns.",
    slip=True,
    change={"F.mse_loss(model(x), y)": "((model(x).float() - y) ** 2).sum() / len(x)"},
)


bank.wrong(
    "clears-in-the-first-call",
    "Only the first call for a model clears .grad: in the next one it still holds the gradients of the batch before, and "
    "they are added.",
    change={
        "optimizer.zero_grad()": 'if not getattr(model, "has_begun", False):\n    optimizer.zero_grad()\n    model.has_begun = True'
    },
)


@bank.right("loss-after-the-block")
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        output = model(x)
    loss = F.mse_loss(output.float(), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


@bank.right("norm-by-hand")
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x).float(), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    total = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in grads]))
    shrink = min(1.0, max_norm / float(total + 1e-6))
    for g in grads:
        g.mul_(shrink)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


@bank.right("loss-outside-in-float32")
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    with torch.amp.autocast(device_type=device_type, dtype=dtype):
        prediction = model(x)
        loss = ((prediction.float() - y.float()) ** 2).mean()
    optimizer.zero_grad(set_to_none=True)
    larger = scaler.scale(loss)
    larger.backward()
    scaler.unscale_(optimizer)
    params = [p for group in optimizer.param_groups for p in group["params"]]
    torch.nn.utils.clip_grad_norm_(params, max_norm=max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach().clone()


@bank.right("clips-by-hand")
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    def forward():
        with torch.autocast(device_type, dtype=dtype):
            return nn.MSELoss()(model(x), y)

    for p in model.parameters():
        p.grad = None
    loss = forward()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    norm = torch.cat([g.flatten() for g in grads]).norm()
    for g in grads:
        g.mul_((max_norm / (norm + 1e-6)).clamp(max=1.0))
    scaler.step(optimizer)
    scaler.update()
    with torch.no_grad():
        return loss * 1.0


@bank.right("scale-into-backward")
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    region = torch.autocast(device_type, dtype)
    with region:
        out = model(x)
        loss = F.mse_loss(out, y, reduction="mean")
    loss.backward(gradient=scaler.scale(torch.ones_like(loss)))
    scaler.unscale_(optimizer)
    norm = nn.utils.get_total_norm([p.grad for p in model.parameters() if p.grad is not None])
    nn.utils.clip_grads_with_norm_(model.parameters(), max_norm, norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.data


bank.wrong(
    "unscales-an-unscaled-loss",
    "The loss goes backward without its factor, so the scaler has nothing to divide out, and says so. "
    "Backward gets `scaler.scale(loss)`.",
    change={"scaler.scale(loss).backward()": "loss.backward()"},
)


bank.survives(
    {
        "F.mse_loss(model(x), y) -> F.mse_loss(y, model(x))": "A square does not mind the sign of the difference.",
        "optimizer -> model (3)": "The model clears the gradients of the same parameters.",
    }
)
