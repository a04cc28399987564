#!/usr/bin/env python3
"""pytorch_epochs.py DIR BATCH...: seconds of an MNIST epoch of the thesis's network in PyTorch, to stand beside benchcnn's.
pytorch_epochs.py --net FILE.net [--images N,M] [--tf32] [--nhwc] BATCH...: the same of a network of bench/nets, on random
images, trained by SGD with momentum.

As fast as PyTorch goes without a compiler: images resident on the GPU, a whole training step (gather, forward, loss,
backward, optimizer) replayed as one CUDA graph, tests likewise, TF32 off unless asked for. DIR holds MNIST's IDX files,
plain or .gz. An epoch is the images of training and those of testing, as in benchcnn; train_s is its first part. Prints a
JSON line a batch size.
"""
import argparse
import gzip
import json
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def idx(folder, name, header):
    path = os.path.join(folder, name)
    opener = open if os.path.exists(path) else gzip.open
    with opener(path if opener is open else path + ".gz", "rb") as file:
        return np.frombuffer(file.read(), np.uint8, offset=header)


def load(folder, part):
    images = idx(folder, part + "-images-idx3-ubyte", 16).reshape(-1, 1, 28, 28).astype(np.float32) / 255
    labels = idx(folder, part + "-labels-idx1-ubyte", 8).astype(np.int64)
    return torch.from_numpy(images).cuda(), torch.from_numpy(labels).cuda()


def thesis():
    conv = lambda channels, pad: nn.Conv2d(channels, 20, 4, stride=2, dilation=3, padding=pad)
    slope = lambda: nn.LeakyReLU(0.01, inplace=True)
    return nn.Sequential(conv(1, 6), slope(), conv(20, 4), slope(), conv(20, 4), slope(), nn.Flatten(), nn.Linear(320, 10))


def lines_of(path):
    """The layers of a .net file, as lists of words; what is repeated, so many times."""
    lines, block, times = [], None, 0
    with open(path) as file:
        for words in (line.split("#")[0].split() for line in file):
            if not words:
                continue
            if words[0] == "repeat":
                block, times = [], int(words[1])
            elif words[0] == "end":
                lines, block = lines + block * times, None
            else:
                (lines if block is None else block).append(words)
    return lines


class Net(nn.Module):
    """A network of bench/nets: conv, batch_norm, relu, max_pool, avg_pool, global_avg_pool, fc, save, from, add."""

    def __init__(self, path):
        super().__init__()
        self.lines, self.layers, self.shape = lines_of(path), nn.ModuleDict(), None
        shape, saved = None, {}
        for i, (word, *rest) in enumerate(self.lines):
            options = dict(w.split("=") for w in rest if "=" in w)
            number = lambda name, default: int(options.get(name, default))
            if word == "input":
                shape = self.shape = tuple(map(int, rest))
            elif word == "save":
                saved[rest[0]] = shape
            elif word == "from":
                shape = saved[rest[0]]
            layer = None
            if word == "conv":
                layer = nn.Conv2d(shape[0], int(rest[0]), number("kernel", 0), number("stride", 1), number("pad", 0),
                                  number("dilation", 1), bias=number("bias", 1) != 0)
            elif word == "batch_norm":
                layer = nn.BatchNorm2d(shape[0])
            elif word == "relu":
                layer = nn.ReLU()
            elif word in ("max_pool", "avg_pool"):
                pool = nn.MaxPool2d if word == "max_pool" else nn.AvgPool2d
                layer = pool(number("kernel", rest[0] if rest and "=" not in rest[0] else 2), number("stride", 2))
            elif word == "global_avg_pool":
                layer = nn.AdaptiveAvgPool2d(1)
            elif word == "fc":
                layer = nn.Sequential(nn.Flatten(), nn.Linear(int(np.prod(shape)), int(rest[0])))
            elif word not in ("input", "save", "from", "add", "softmax_cross_entropy"):
                sys.exit(f"{path}: {word}: not a layer that this program knows")
            if layer is not None:
                self.layers[str(i)] = layer
                with torch.no_grad():
                    shape = tuple(layer.eval()(torch.zeros(1, *shape)).shape[1:])
        self.train()

    def forward(self, x):
        saved = {}
        for i, (word, *rest) in enumerate(self.lines):
            if word == "save":
                saved[rest[0]] = x
            elif word == "from":
                x = saved[rest[0]]
            elif word == "add":
                x = x + saved[rest[0]]
            elif str(i) in self.layers:
                x = self.layers[str(i)](x)
        return x


def random_data(shape, count):
    return torch.randn(count, *shape, device="cuda"), torch.randint(0, 10, (count,), device="cuda")


class Pass:
    """Steps over a data set, one graph each: the place in the order is a counter on the device."""

    def __init__(self, data, batch, step):
        self.images, self.labels = data
        self.count, self.batch = len(self.labels), batch
        self.order = torch.arange(self.count, device="cuda")
        self.at = torch.zeros(1, dtype=torch.long, device="cuda")
        self.each = torch.arange(batch, device="cuda")
        self.loss = torch.zeros((), device="cuda")
        self.hits = torch.zeros((), dtype=torch.long, device="cuda")
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                self.one(step)
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.one(step)

    def one(self, step):
        rows = self.order[(self.at + self.each) % self.count]
        step(self, self.images[rows], self.labels[rows])
        self.at += self.batch

    def run(self):
        self.at.zero_(), self.loss.zero_(), self.hits.zero_()
        for _ in range(self.count // self.batch):
            self.graph.replay()


def epochs(net, optimizer, train, test, batch, repeats=4):
    def learn(p, x, y):
        net.train()
        optimizer.zero_grad(set_to_none=False)
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        p.loss += loss.detach()

    def judge(p, x, y):
        net.eval()
        with torch.no_grad():
            p.hits += (net(x).argmax(1) == y).sum()

    training, testing = Pass(train, batch, learn), Pass(test, batch, judge)
    seconds, train_s = [], []
    for _ in range(repeats):
        training.order.copy_(torch.randperm(training.count, device="cuda"))
        torch.cuda.synchronize()
        start = time.perf_counter()
        training.run()
        training.loss.item()
        train_s.append(time.perf_counter() - start)
        testing.run()
        hits = testing.hits.item()
        seconds.append(time.perf_counter() - start)
    return {"median_s": median(seconds[1:]), "train_s": median(train_s[1:]), "seconds": seconds[1:],
            "test_accuracy": hits / testing.count}


def median(values):
    return sorted(values)[len(values) // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--net", help="a .net file; else the thesis's network on MNIST")
    parser.add_argument("--images", default="50000,10000", help="of --net: training,testing")
    parser.add_argument("--tf32", action="store_true")
    parser.add_argument("--nhwc", action="store_true", help="of --net: channels last")
    parser.add_argument("rest", nargs="+", metavar="BATCH", help="without --net, the folder of MNIST before them")
    args = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = args.tf32
    torch.backends.cudnn.benchmark = True
    folder = None if args.net else args.rest.pop(0)
    train, test = (None, None) if args.net else (load(folder, "train"), load(folder, "t10k"))
    for batch in map(int, args.rest):
        torch.manual_seed(1)
        if args.net:
            net = Net(args.net)
            train, test = (random_data(net.shape, int(n)) for n in args.images.split(","))
            net = net.cuda()
            if args.nhwc:
                net = net.to(memory_format=torch.channels_last)
                train, test = ((x.to(memory_format=torch.channels_last), y) for x, y in (train, test))
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
        else:
            net = thesis().cuda()
            optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True, capturable=True)
        name = os.path.basename(args.net).removesuffix(".net") if args.net else "thesis"
        print(json.dumps({"peer": "pytorch", "version": torch.__version__, "cudnn": torch.backends.cudnn.version(),
                          "gpu": torch.cuda.get_device_name(), "net": name, "batch": batch,
                          "math": "tf32" if args.tf32 else "f32", "layout": "nhwc" if args.nhwc else "nchw",
                          "images": [len(train[1]), len(test[1])],
                          **epochs(net, optimizer, train, test, batch)}), flush=True)


if __name__ == "__main__":
    main()
