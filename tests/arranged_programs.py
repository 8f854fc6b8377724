"""For each exercise with lines to arrange, one correct arrangement. Students' installs do not contain it."""

PROGRAMS = {
    "standardize": """\
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    var = x.var(dim, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps)
""",
    "accumulate": """\
def accumulate(loss_fn, batches, params):
    total = sum(len(batch) for batch in batches)
    for p in params:
        p.grad = None
    for batch in batches:
        (loss_fn(batch) * len(batch) / total).backward()
    return [p.grad for p in params]
""",
    "descend": """\
def descend(f, x0, lr, steps):
    x = x0.detach().clone()
    for _ in range(steps):
        x.requires_grad_()
        grad = torch.autograd.grad(f(x), x)[0]
        x = (x - lr * grad).detach()
    return x
""",
    "init_he": """\
def init_he(module):
    for part in module.modules():
        if isinstance(part, nn.Linear):
            std = math.sqrt(2 / part.in_features)
            nn.init.normal_(part.weight, std=std)
            if part.bias is not None:
                nn.init.zeros_(part.bias)
    return module
""",
    "train_step": """\
def train_step(model, optimizer, criterion, x_batch, y_batch):
    optimizer.zero_grad()
    loss = criterion(model(x_batch), y_batch)
    loss.backward()
    optimizer.step()
    return loss.item()
""",
    "evaluate": """\
def evaluate(model, loader, criterion):
    modes = {module: module.training for module in model.modules()}
    model.eval()
    loss = hits = count = 0
    with torch.no_grad():
        for inputs, labels in loader:
            logits = model(inputs)
            loss += criterion(logits, labels).item() * len(labels)
            hits += (logits.argmax(dim=1) == labels).sum().item()
            count += len(inputs)
    for module, mode in modes.items():
        module.train(mode)
    return {"loss": loss / count, "accuracy": hits / count}
""",
    "clip_grad_norm": """\
def clip_grad_norm(params, max_norm):
    grads = [p.grad for p in params if p.grad is not None]
    norm = sum((grad**2).sum().item() for grad in grads) ** 0.5
    if norm > max_norm:
        for grad in grads:
            grad *= max_norm / norm
    return norm
""",
    "amp_train_step": """\
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
""",
}
