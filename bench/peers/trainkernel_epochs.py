#!/usr/bin/env python3
"""trainkernel_epochs.py [OPTION...] FILE.net:BATCH...: seconds of an epoch of an MLP in TrainKernel 0.2.0 (PyPI), which
compiles a training step into one cooperative kernel, to stand beside those of `benchcnn train --net FILE.net`.

  --images N      of an epoch; each batch divides it [12800]
  --epochs N      that are timed [5]
  --lr R          as benchcnn's --optimizer sgd,lr=R [0.001]
  --dtypes LIST   f32; bf16, which it is published with: products in bf16, all else in f32 [f32,bf16]
  --like FILE     records of an earlier run on this machine: the options that were fastest, and no others

The network: fully connected layers with biases, ReLU between them, squared errors against one-hot targets. The loss of
TrainKernel is their mean over images and outputs, benchcnn's quadratic loss half their sum over outputs; with a rate of
R times outputs / 2 the updates are the same. As in its own benchmark, each step gives loss, gradients and weights,
updated in place, batches are resident, and many steps are one CUDA graph. Images are not drawn at random and losses
not added up, which benchcnn does.

Each of the launch options below is compiled by nvcc, as many at once as there are cores, compared with eager PyTorch
over 20 steps, and timed; the fastest counts. Prints a JSON line a file, batch and dtype. Needs a GPU, PyTorch 2.8 or
later, nvcc, ninja and a C++ compiler."""
import argparse
import concurrent.futures
import json
import multiprocessing
import os
import sys
import time

from trainkernel_mlp import LOOSE, build, largest_error, setting, sizes_of

GRAPH = 400  # steps of a graph, at most: an epoch goes through its batches again and again
OPTIONS = (  # up to this batch: TrainKernel's launch options that are tried; it has 1,024 threads for few images alone
    (4, [{}, {"max_blocks": 1, "threads_per_block": 1024}, {"max_blocks": 8, "threads_per_block": 1024}]),
    (32, [{"shared_skew": 16}, {"shared_skew": 16, "max_blocks": 32}]),
    (1 << 40, [{"shared_skew": 16}, {"shared_skew": 16, "blocks_per_sm": 2}]),
)


def compiled_in(case):
    """In a process of its own: only that the compiled kernel lies in PyTorch's cache of extensions."""
    start = time.perf_counter()
    build(case)
    return time.perf_counter() - start


def compile_all(cases):
    """Seconds of each; 0 and a line on standard error where it cannot be compiled."""
    seconds = []
    at_once, spawn = min(len(cases), os.cpu_count() or 1), multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(at_once, spawn) as pool:
        for case, job in zip(cases, [pool.submit(compiled_in, case) for case in cases]):
            try:
                seconds.append(job.result())
            except Exception as error:  # whatever its compilers raise
                seconds.append(0)
                print(f"not compiled: {case}: {str(error)[-1500:]}", file=sys.stderr)
    return seconds


def epochs(case, images, repeats):
    """Seconds of each epoch, and the loss of a first and a last batch."""
    import torch
    sizes, batch, dtype, _, _ = case
    steps = images // batch
    count = next(n for n in range(min(GRAPH, steps), 0, -1) if steps % n == 0)
    compiled = build(case)
    worst = largest_error(case, compiled)
    if not worst <= 1:
        raise RuntimeError(f"is {worst:.3g} times as far from eager PyTorch as allowed")
    params, batches = setting(sizes, batch, dtype, count)
    buffers = compiled.runner.allocate(*params, *batches[0])
    first = float(compiled.runner.run_into(*params, *batches[0], buffers=buffers)[0])
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for x, target in batches:
            compiled.runner.run_into(*params, x, target, buffers=buffers)
    seconds = []
    for _ in range(repeats + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(steps // count):
            graph.replay()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    losses = {"first_loss": first, "last_loss": float(buffers.outputs[0])}
    return {"seconds": seconds[1:], **losses, "error_of_allowed": worst}


def fastest(cases, asked):
    """Of one file, batch and dtype."""
    best, tried = None, []
    for case in cases:
        try:
            one = epochs(case, asked.images, asked.epochs)
        except Exception as error:  # also: it lost its way, or the GPU has no room
            print(f"not timed: {case}: {str(error)[-600:]}", file=sys.stderr)
            continue
        one["median_s"] = sorted(one["seconds"])[len(one["seconds"]) // 2]
        tried.append({"options": case[-1], "median_s": one["median_s"]})
        if best is None or one["median_s"] < best["median_s"]:
            best = {**one, "options": case[-1]}
    return best and {**best, "tried": tried}


def points(asked):
    """(file, batch, dtype) -> cases, in the order asked for."""
    kept = {}
    if asked.like:
        with open(asked.like, encoding="utf-8") as file:
            for record in map(json.loads, file):
                kept[record["net"], record["batch"], record["dtype"]] = [record["options"]]
    found = {}
    for point in asked.points:
        path, _, batch = point.rpartition(":")
        if not batch.isdigit() or int(batch) < 1 or asked.images % int(batch) != 0:
            sys.exit(f"'{point}': expected FILE.net:BATCH, with a batch that divides {asked.images} images")
        sizes, name = sizes_of(path), os.path.basename(path).removesuffix(".net")
        for dtype in asked.dtypes.split(","):
            options = kept.get((name, int(batch), dtype)) or next(o for most, o in OPTIONS if int(batch) <= most)
            found[name, int(batch), dtype] = [(sizes, int(batch), dtype, asked.lr * sizes[-1] / 2, o) for o in options]
    return found


def arguments():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw, usage=argparse.SUPPRESS)
    parser.add_argument("--images", type=int, default=12800, help=argparse.SUPPRESS)
    parser.add_argument("--epochs", type=int, default=5, help=argparse.SUPPRESS)
    parser.add_argument("--lr", type=float, default=0.001, help=argparse.SUPPRESS)
    parser.add_argument("--dtypes", default="f32,bf16", help=argparse.SUPPRESS)
    parser.add_argument("--like", help=argparse.SUPPRESS)
    parser.add_argument("points", nargs="+", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if set(asked.dtypes.split(",")) - set(LOOSE):
        parser.error(f"--dtypes {asked.dtypes}: expected f32, bf16 or both")
    if asked.images < 1 or asked.epochs < 1:
        parser.error("--images and --epochs: at least 1")
    return asked


def main():
    asked = arguments()
    try:
        found = points(asked)
    except OSError as error:
        sys.exit(f"trainkernel_epochs.py: {error.filename}: {error.strerror}")
    try:
        import torch
        import trainkernel
    except ImportError as error:
        sys.exit(f"trainkernel_epochs.py: {error}: needs PyTorch, and TrainKernel in PYTHONPATH "
                 "(pip install --no-deps --target DIR trainkernel==0.2.0)")
    if not torch.cuda.is_available():
        sys.exit("trainkernel_epochs.py: PyTorch finds no GPU; TrainKernel needs compute capability 8.0 or later")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    about = {"peer": "trainkernel", "version": trainkernel.__version__, "torch": torch.__version__,
             "gpu": torch.cuda.get_device_name(), "images": asked.images}
    cases = [case for those in found.values() for case in those]
    seconds = dict(zip(map(repr, cases), compile_all(cases)))
    missing = 0
    for (net, batch, dtype), those in found.items():
        best = fastest([case for case in those if seconds[repr(case)] > 0], asked)
        if best is None:
            print(f"{net}, batch {batch}, {dtype}: TrainKernel did not train it: see above", file=sys.stderr)
            missing = 1
            continue
        print(json.dumps({**about, "net": net, "sizes": those[0][0], "batch": batch, "dtype": dtype,
                          "us_per_step": 1e6 * best["median_s"] * batch / asked.images, **best,
                          "compile_s": max(seconds[repr(case)] for case in those)}), flush=True)
    return missing


if __name__ == "__main__":
    sys.exit(main())
