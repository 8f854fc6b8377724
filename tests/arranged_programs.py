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
    x = x0.detach().clone().requires_grad_()
    for _ in range(steps):
        x.grad = None
        f(x).backward()
        with torch.no_grad():
            x -= lr * x.grad
    return x.detach()
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
    "make_batch": """\
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    generator = torch.Generator()
    generator.manual_seed(seed)
    return torch.randn((n, d), generator=generator).to(dtype)
""",
    "masked_mean": """\
def masked_mean(x, mask, dim):
    total = x.masked_fill(~mask, 0).sum(dim=dim)
    count = mask.float().sum(dim=dim)
    return total / torch.maximum(count, torch.ones_like(count))
""",
    "one_hot": """\
def one_hot(labels, k):
    out = torch.zeros(len(labels), k)
    for i, label in enumerate(labels.tolist()):
        out[i, label] = 1
    return out
""",
    "linear_mse": """\
def linear_mse(x, w, y):
    x = (x - x.mean(dim=0)) / x.std(dim=0, correction=0)
    difference = x @ w - y.unsqueeze(1)
    squared = difference**2
    return squared.mean()
""",
    "grad_of": """\
def grad_of(f, x):
    leaf = x.detach().requires_grad_()
    y = f(leaf)
    (gradient,) = torch.autograd.grad(y.sum(), [leaf])
    return gradient
""",
    "running_loss": """\
def running_loss(losses):
    values = []
    for loss in losses:
        loss.backward()
        values.append(loss.item())
    return sum(values) / len(values)
""",
    "stop_gradient_loss": """\
def stop_gradient_loss(a, b):
    with torch.no_grad():
        target = b.clone()
    difference = target - a
    product = difference * difference
    return product.mean()
""",
    "vjp": """\
def vjp(f, x, v):
    leaf = x.detach().requires_grad_()
    total = (f(leaf) * v.detach()).sum()
    return torch.autograd.grad(total, leaf)[0]
""",
    "count_params": """\
def count_params(module, trainable_only=False):
    named = dict(module.named_parameters())
    if trainable_only:
        named = {name: p for name, p in named.items() if p.requires_grad}
    return sum(map(torch.numel, named.values()))
""",
    "conv2d": """\
def conv2d(image, kernel, stride=1, padding=0):
    padded = F.pad(image, (padding, padding, padding, padding))
    windows = padded.unfold(0, kernel.shape[0], stride)
    windows = windows.unfold(1, kernel.shape[1], stride)
    return torch.einsum("ijab,ab->ij", windows, kernel)
""",
    "call_counts": """\
def call_counts(module, x):
    names = {part: name for name, part in module.named_modules() if part is not module}
    ran = []
    handles = [part.register_forward_pre_hook(lambda part, _: ran.append(names[part])) for part in names]
    try:
        module(x)
    finally:
        [handle.remove() for handle in handles]
    return {name: ran.count(name) for name in set(ran)}
""",
    "save_best": """\
def save_best(module, best, loss):
    if best is None or loss < best["loss"]:
        state = copy.deepcopy(module.state_dict())
        return {"loss": loss, "state": state}
    return best
""",
    "load_partial": """\
def load_partial(module, state):
    left = set(state)
    with torch.no_grad():
        for name, value in module.state_dict().items():
            if name in state and state[name].size() == value.size():
                value.copy_(state[name])
                left.discard(name)
            else:
                left.add(name)
    return sorted(left)
""",
    "freeze_all_but": """\
def freeze_all_but(module, pattern):
    names = fnmatch.filter([name for name, _ in module.named_parameters()], pattern)
    alive = {id(module.get_parameter(name)) for name in names}
    for p in module.parameters():
        p.requires_grad = id(p) in alive
    for part in module.modules():
        held = {id(tensor) for tensor in (*part.parameters(), *part.buffers())}
        if held and not held & alive:
            part.eval()
    return names
""",
    "lr_at": """\
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    if step >= total_steps:
        return float(min_lr)
    if step >= warmup_steps:
        angle = math.pi * (step - warmup_steps) / (total_steps - warmup_steps)
        return (base_lr + min_lr) / 2 + (base_lr - min_lr) / 2 * math.cos(angle)
    return base_lr / warmup_steps * (step + 1)
""",
    "collate_pad": """\
def collate_pad(batch, pad=0):
    lengths = [len(row) for row in batch]
    real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    padded = batch[0].new_full(real.shape, pad)
    padded[real] = torch.cat(batch)
    return padded, lengths
""",
    "train_step_on": """\
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    inputs, targets = (part.to(device=device) for part in (x_batch, y_batch))
    loss = criterion(model(inputs), targets)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()
""",
    "Linear": """\
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = in_features**-0.5
        self.weight = nn.Parameter((2 * torch.rand(out_features, in_features) - 1) * bound)
        self.bias = nn.Parameter((2 * torch.rand(out_features) - 1) * bound) if bias else None
    def forward(self, x):
        result = x @ self.weight.T
        return result if self.bias is None else result + self.bias
""",
    "Standardizer": """\
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.detach().clone())
        self.register_buffer("std", std.detach().clone())
    def forward(self, x):
        return (x - self.mean) / self.std
""",
    "MLP": """\
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        self.net = nn.Sequential()
        for i in range(len(sizes) - 1):
            if i:
                self.net.append(activation())
            self.net.append(nn.Linear(sizes[i], sizes[i + 1]))
    def forward(self, x):
        return self.net(x)
""",
    "PairDataset": """\
class PairDataset(Dataset):
    def __init__(self, x, y):
        if len(x) != len(y):
            raise ValueError("x and y differ in length")
        self.x, self.y = x, y
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return self.x[i], self.y[i]
""",
    "bench": """\
def bench(fn, warmup, iters, sync):
    [fn() for _ in range(warmup)]
    times = []
    for call in range(iters):
        sync()
        begin = time.perf_counter()
        fn(); sync()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)
""",
    "mixed_region": """\
def mixed_region(block):
    def safe(x):
        with torch.autocast(x.device.type, enabled=False):
            return block(x.to(torch.float32))
    return safe
""",
    "to_device": """\
def to_device(obj, device):
    if torch.is_tensor(obj):
        return obj.to(device)
    if isinstance(obj, dict):
        return type(obj)({key: to_device(value, device) for key, value in obj.items()})
    if hasattr(obj, "_fields"):
        return type(obj)(*(to_device(value, device) for value in obj))
    if isinstance(obj, list | tuple):
        return type(obj)(to_device(value, device) for value in obj)
    return obj
""",
    "underflow_report": """\
def underflow_report(loss_fn, scales):
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        grads = torch.autograd.grad(loss * scale, params, allow_unused=True)
        used = [g[g != 0] for g in grads if g is not None]
        lost = sum((g.half() == 0).sum().item() for g in used)
        count = sum(g.numel() for g in used)
        report[scale] = lost / max(count, 1)
    return report
""",
    "overfit_one_batch": """\
def overfit_one_batch(trial):
    x, y = trial.batch()
    same, other = trial.batch()
    if torch.equal(x, same) and not torch.equal(y, other):
        return "shuffled labels"
    params = [*trial.model.parameters()]
    if any(not p.requires_grad for p in params):
        return "frozen"
    held = {id(p) for group in trial.optimizer.param_groups for p in group["params"]}
    if any(id(p) not in held for p in params):
        return "wrong parameters"
    before = [p.detach().clone() for p in params]
    losses = [trial.step(x, y)]
    if all(torch.equal(p, old) for p, old in zip(params, before)):
        return "no step"
    losses += [trial.step(x, y) for _ in range(100)]
    return "ok" if losses[-1] < losses[0] / 10 else "learning rate"
""",
    "fit": """\
def fit(model, optimizer, criterion, loader, drawer, epochs):
    history = []
    for epoch in range(epochs):
        model.train()
        losses = []
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        total = hits = count = 0
        with torch.no_grad():
            for x, y in drawer:
                scores = model(x)
                total += criterion(scores, y).item() * len(y)
                hits += (scores.argmax(dim=1) == y).sum().item()
                count += len(y)
        history.append((sum(losses) / len(losses), total / count, hits / count))
    return history
""",
    "train": """\
def train(model, optimizer, train_set, val_set, epochs, batch_size=16, seed=0):
    images, labels = train_set
    device = next(model.parameters()).device
    order = torch.Generator().manual_seed(seed)
    losses, accuracies = [], []
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for rows in torch.randperm(len(labels), generator=order).split(batch_size):
            x, y = images[rows].to(device), labels[rows].to(device)
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(labels))
        model.eval()
        with torch.no_grad():
            hits = model(val_set[0].to(device)).argmax(dim=1) == val_set[1].to(device)
        accuracies.append(hits.float().mean().item())
    return {"losses": losses, "accuracies": accuracies}
""",
    "train_amp": """\
def train_amp(model, optimizer, scaler, batches, accumulate, max_norm, amp=True):
    model.train()
    losses = []
    for first in range(0, len(batches), accumulate):
        group = batches[first : first + accumulate]
        rows = sum(len(y) for _, y in group)
        optimizer.zero_grad()
        total = 0.0
        for x, y in group:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=amp):
                loss = F.cross_entropy(model(x), y, reduction="sum") / rows
            scaler.scale(loss).backward()
            total += loss.detach().item()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses += [total]
    return losses
""",
}
