"""benchcnn: verifies Python callables by the checks of `benchcnn verify`, and computes and times by its implementations.

    import numpy as np, benchcnn
    print(benchcnn.verify(my_conv, "mb2ic3ih8oc5kh3ph1"))
    y = benchcnn.conv(x, w, b, stride=2, padding=1, impl="cpu:direct")

docs/python.md has more.
"""

from ._bench import Times, bench
from ._compute import compare, compute, conv
from ._engine import implementations, load_plugin
from ._library import Error
from ._problem import Problem, default_problems
from ._results import Result, VerificationFailed, Verdict, Verdicts
from ._verify import verify

__all__ = ["Error", "Problem", "Result", "Times", "VerificationFailed", "Verdict", "Verdicts", "bench", "compare", "compute",
           "conv", "default_problems", "implementations", "load_plugin", "verify"]
