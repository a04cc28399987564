#!/usr/bin/env python3
"""pytorch_epochs.py DIR BATCH...: seconds of an MNIST epoch of the thesis's network in PyTorch, to stand beside benchcnn's.

As fast as PyTorch goes without a compiler: images resident on the GPU, a whole training step (gather, forward, loss,
backward, fused Adam) replayed as one CUDA graph, tests likewise, TF32 off. DIR holds MNIST's IDX files, plain or .gz. An
epoch is 60,000 images of training and 10,000 of testing, as in benchcnn. Prints a JSON line a batch size.
"""
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


def epochs(train, test, batch, repeats=4):
    torch.manual_seed(1)
    net = thesis().cuda()
    adam = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True, capturable=True)

    def learn(p, x, y):
        adam.zero_grad(set_to_none=False)
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        adam.step()
        p.loss += loss.detach()

    def judge(p, x, y):
        with torch.no_grad():
            p.hits += (net(x).argmax(1) == y).sum()

    training, testing = Pass(train, batch, learn), Pass(test, batch, judge)
    seconds = []
    for _ in range(repeats):
        training.order.copy_(torch.randperm(training.count, device="cuda"))
        torch.cuda.synchronize()
        start = time.perf_counter()
        training.run()
        testing.run()
        hits = testing.hits.item()
        seconds.append(time.perf_counter() - start)
    return seconds[1:], hits / testing.count


def main():
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    train, test = load(sys.argv[1], "train"), load(sys.argv[1], "t10k")
    for batch in map(int, sys.argv[2:]):
        seconds, accuracy = epochs(train, test, batch)
        print(json.dumps({"peer": "pytorch", "version": torch.__version__, "cudnn": torch.backends.cudnn.version(),
                          "gpu": torch.cuda.get_device_name(), "net": "thesis", "batch": batch,
                          "median_s": sorted(seconds)[len(seconds) // 2], "seconds": seconds,
                          "test_accuracy": accuracy}), flush=True)


if __name__ == "__main__":
    main()
