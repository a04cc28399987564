"""trainkernel_mlp.py: an MLP as TrainKernel trains it, for trainkernel_epochs.py: the network of a .net file, a step of
it, data, and how far it may be from eager PyTorch.

PyTorch is loaded where it is used, so that mistakes in the command are told without it."""
import sys

CHECKED = 20  # steps beside eager PyTorch
LOOSE = {"f32": (2e-4, 2e-5), "bf16": (4e-2, 4e-3)}  # relative, absolute: TrainKernel's own tests'


def sizes_of(path):
    """The inputs and outputs of a .net file's layers: [64, 128, 16]."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split("#")[0].split() for line in file]
    lines = [words for words in lines if words]
    kinds = [words[0] for words in lines]
    fcs = [words for words in lines if words[0] == "fc"]
    chain = ["input"] + ["fc", "relu"] * (len(fcs) - 1) + ["fc", "quadratic"]
    if kinds != chain or any(len(words) > 2 for words in fcs):
        sys.exit(f"{path}: TrainKernel trains 'input', then 'fc N' with 'relu' between them, then 'quadratic'")
    inputs = 1
    for word in lines[0][1:]:
        inputs *= int(word)
    return [inputs] + [int(words[1]) for words in fcs]


def _training_step(sizes, rate, dtype):
    import torch
    low = torch.float32 if dtype == "f32" else torch.bfloat16

    def step(params, x, target):
        def loss(weights):
            y = x
            for i in range(0, len(weights), 2):
                y = y @ weights[i].to(low) + weights[i + 1].to(low)
                y = torch.relu(y) if i + 2 < len(weights) else y
            return ((y.float() - target.float()) ** 2).mean()
        gradients, value = torch.func.grad_and_value(loss)(params)
        return value, gradients, tuple(p - rate * g for p, g in zip(params, gradients))
    return step


def setting(sizes, batch, dtype, count, device="cuda"):
    """First weights, and so many batches that can be learnt: each class is a picture of its own under noise."""
    import torch
    torch.manual_seed(1)
    low = torch.float32 if dtype == "f32" else torch.bfloat16
    params = []
    for n, m in zip(sizes, sizes[1:]):
        params += [torch.randn(n, m, device=device) * (2 / n) ** 0.5, torch.zeros(m, device=device)]
    classes, noise = torch.rand(10, sizes[0], device=device) - 0.5, 0.3
    labels = torch.randint(0, 10, (count, batch), device=device)
    images = (classes[labels] + noise * torch.randn(count, batch, sizes[0], device=device)).to(low)
    targets = torch.nn.functional.one_hot(labels, sizes[-1]).to(low)
    return tuple(params), [(images[i].contiguous(), targets[i].contiguous()) for i in range(count)]


def build(case):
    import trainkernel
    sizes, batch, dtype, rate, options = case
    params, batches = setting(sizes, batch, dtype, 1)
    return trainkernel.compile_training(_training_step(sizes, rate, dtype), (params, *batches[0]), **options)


def largest_error(case, compiled):
    """Of weights and losses after CHECKED steps, as a part of what is allowed."""
    import torch
    sizes, batch, dtype, rate, _ = case
    state, batches = setting(sizes, batch, dtype, CHECKED)
    eager, step, worst = tuple(p.clone() for p in state), _training_step(sizes, rate, dtype), 0.0
    for x, target in batches:
        value, _, eager = step(eager, x, target)
        loss = compiled(state, x, target)[0]
        for a, b in zip((loss, *state), (value, *eager)):
            relative, absolute = LOOSE[dtype]
            worst = max(worst, float(((a - b).abs() / (absolute + relative * b.abs())).max()))
    torch.cuda.synchronize()
    return worst
