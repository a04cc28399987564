#!/usr/bin/env python3
"""weights.py FILE DTYPE NAME:SIZExSIZE...: a file of `train --save` as other programs read it: by the format's own words
(the standard library suffices), and, where they can be imported, by the safetensors package and by PyTorch, to whose layers
the names and shapes are given. Prints one line a tensor: its name and the sum of its elements."""
import json
import math
import struct
import sys

path, dtype, wanted = sys.argv[1], sys.argv[2], dict(word.split(":") for word in sys.argv[3:])
with open(path, "rb") as file:
    length = struct.unpack("<Q", file.read(8))[0]
    header = json.loads(file.read(length))
    data = file.read()
assert (8 + length) % 8 == 0, "elements are not aligned"
assert header.pop("__metadata__")["format"] == "pt"
size, letter = {"F32": (4, "f"), "F64": (8, "d")}[dtype]
shapes = {name: "x".join(map(str, tensor["shape"])) for name, tensor in header.items()}
assert shapes == wanted, f"{shapes}, not {wanted}"
values, end = {}, 0
for name, tensor in header.items():
    begin, stop = tensor["data_offsets"]
    assert tensor["dtype"] == dtype and begin == end and stop - begin == size * math.prod(tensor["shape"]), (name, tensor)
    values[name] = struct.unpack(f"<{(stop - begin) // size}{letter}", data[begin:stop])
    end = stop
assert end == len(data), "bytes without a tensor"
for name, numbers in values.items():
    assert all(map(math.isfinite, numbers)), name
    print(name, "%.6g" % sum(numbers))

try:
    from safetensors.numpy import load_file
except ImportError:
    print("without the safetensors package", file=sys.stderr)
else:
    loaded = load_file(path)
    assert loaded.keys() == values.keys()
    for name, array in loaded.items():
        assert "x".join(map(str, array.shape)) == wanted[name] and tuple(array.ravel().tolist()) == values[name], name

try:
    import torch
    from safetensors.torch import load_file as load_torch
except ImportError:
    print("without PyTorch", file=sys.stderr)
else:
    layers = torch.nn.ModuleDict()
    for name, shape in wanted.items():
        layer, role = name.rsplit(".", 1)
        sizes = [int(s) for s in shape.split("x")]
        bias = f"{layer}.bias" in wanted
        if layer in layers or role == "bias":
            continue
        if len(sizes) == 4:  # one group
            layers[layer] = torch.nn.Conv2d(sizes[1], sizes[0], sizes[2:], bias=bias)
        else:
            layers[layer] = torch.nn.Linear(sizes[1], sizes[0], bias=bias) if len(sizes) == 2 else torch.nn.BatchNorm2d(sizes[0])
    tensors = load_torch(path)
    layers.load_state_dict(tensors, strict=not any(name.endswith("running_mean") for name in wanted))
