"""Timing."""

import ctypes

from ._engine import Engine
from ._library import EACH, BenchParams, CTimes, Error
from ._problem import Problem
from ._results import Result, VerificationFailed, Verdict


class Times:
    """Times of one operation: median, least, and the interval (low, high) of the median, in seconds; `count` samples;
    workspace_bytes; gflops: floating-point operations a nanosecond; marks: what is wrong with the figure ("noisy"), or "";
    verdict: of the timed runs, each of which was judged."""

    def __init__(self, impl, problem, raw, verdict):
        self.impl, self.problem, self.verdict = impl, problem, verdict
        for name in ("median", "least", "low", "high", "count", "repeats", "workspace_bytes", "flops", "bytes"):
            setattr(self, name, getattr(raw, name))
        self.marks = raw.marks.decode()
        self.gflops = raw.flops / raw.median * 1e-9 if raw.median > 0 else float("nan")

    def __repr__(self):
        return (f"<Times {self.impl} {self.problem}: median {self.median:.4g} s ({self.low:.4g} to {self.high:.4g}), "
                f"{self.gflops:.4g} GFLOP/s{', ' if self.marks else ''}{self.marks}>")


def bench(problem, impl, op="conv", dir="FWD", dtype="f32", layout="nchw", math="f32", bias=True, flip=False, min_time=0.3,
          max_time=2.0, warm_up=0.1, cold=False, seed=1, threads=None, settings=None):
    """Times one operation by an implementation, as `benchcnn bench` does: on data of its own, each timed run judged.

    problem: a descriptor or a Problem. impl: "NAME" or "NAME:ALGORITHM"; no callable, whose time would be mostly that of the
    copies around it. min_time, max_time, warm_up: seconds. cold: caches are flushed before each run.
    Returns Times; raises VerificationFailed where a timed run was wrong, Error for what cannot be timed.
    """
    if not isinstance(impl, str):
        raise Error(f"impl is {impl!r}; bench takes an implementation's name")
    p = problem if isinstance(problem, Problem) else Problem(problem, op, dir, dtype, layout, math, bias, flip)
    params = BenchParams(min_time, max_time, warm_up, bool(cold), seed)
    raw, results = CTimes(), []
    with Engine(impl, threads, settings) as engine:
        engine.call("api_bench", p._handle, ctypes.byref(params), ctypes.byref(raw),
                    EACH(lambda result: results.append(Result(result.contents))))
    verdict = Verdict(impl, p, results)
    if not verdict.passed:
        raise VerificationFailed(verdict)
    return Times(impl, p, raw, verdict)
