"""Verifying."""

import ctypes
import re
import threading

import numpy

from ._callable import Callable, Parameters
from ._engine import Engine
from ._library import EACH, FAILED, Error
from ._problem import Problem, default_problems
from ._results import Result, VerificationFailed, Verdict, Verdicts

_one_at_a_time = threading.Lock()  # the pages that a verification watches are the process's


def _arrays_of(failure, layout):
    """What went in, what was expected and what came, of a failure; float64, owned by NumPy, in PyTorch's order."""
    arrays = {}
    for i in range(failure.count):
        array = failure.arrays[i]
        shape = tuple(array.dims[:array.n_dims])
        for values, suffix in ((failure.before, ""), (failure.expected, "_expected"), (failure.got, "_got")):
            if values[i]:
                raw = (ctypes.c_double * array.count).from_address(values[i])
                arrays[array.name.decode() + suffix] = numpy.frombuffer(raw).reshape(shape).copy()
    return arrays


def _verify_one(engine, name, problem):
    results, latest = [], {}

    def each(raw):
        results.append(Result(raw.contents, latest.pop("arrays", None)))

    def failed(raw):
        latest["arrays"] = _arrays_of(raw.contents, problem.layout)

    engine.call("api_verify", problem._handle, EACH(each), FAILED(failed))
    exception = None
    if isinstance(engine.what, Callable):
        exception, engine.what.exception = engine.what.exception, None
    return Verdict(name, problem, results, exception)


def _takes_bias(function, op, dir):
    parameters = Parameters(function)
    return op != "deconv" and (parameters.takes("db") if dir == "BWD_W" else parameters.takes("b"))


def _name_of(function):
    """Its name, of characters that an algorithm's may have."""
    name = getattr(function, "__name__", type(function).__name__)
    return re.sub("[^A-Za-z0-9_]", "", name)[:64] or "callable"


def verify(fn, problem=None, op="conv", dir="FWD", dtype="f32", layout="nchw", math="f32", bias=None, flip=False,
           supports=None, deterministic=False, amplification=1.0, checks=None, seed=1, threads=None, settings=None,
           raises=False):
    """Verifies a Python callable, or an implementation by its name, by the checks of `benchcnn verify`.

    fn: a callable, which gets NumPy arrays by the names of its parameters: x, w, b... (see docs/python.md), sizes by the
    letters of a descriptor (sh, ph, g...), and `problem`, a Problem. It returns the result, or fills the array y (dx, dw...)
    that it has a parameter for. Or a text, "cpu:direct". problem: a descriptor, a Problem, several of them, or None: those
    that `benchcnn verify` takes. bias: None: where fn has a parameter b (BWD_W: db). supports: asked with each Problem; True,
    or False or a text that says why not: UNSUPPORTED. deterministic: fn promises the same bits in every run.
    amplification: above 1 for transforms (16: Winograd's F(2x2,3x3)). checks: names of checks; None: all.
    settings: knobs, {"cpu.tile": 4}.

    Returns a Verdict for one problem, Verdicts for several; raises: VerificationFailed unless they passed. What fn raises is
    FAILED, with the exception in the verdict; a KeyboardInterrupt ends the verification. Raises Error where nothing can be
    said: what is no problem, no memory. One verification at a time in a process: another raises Error.
    """
    several = problem is None or not isinstance(problem, (str, Problem))
    listed = default_problems(op) if problem is None else list(problem) if several else [problem]
    by_name = isinstance(fn, str)
    if not by_name and not callable(fn):
        raise Error(f"fn is {fn!r}; it is a callable, or an implementation's name")
    if bias is None:
        bias = by_name or _takes_bias(fn, op, dir.upper())
    problems = [p if isinstance(p, Problem) else Problem(p, op, dir, dtype, layout, math, bias, flip) for p in listed]
    if not problems:
        raise Error("there is no problem to verify")
    if len({(p.op, p.dir, p.dtype, p.layout, p.math, p.flip) for p in problems}) > 1:
        raise Error("the problems differ in more than their sizes: verify them one by one")
    if not _one_at_a_time.acquire(blocking=False):
        raise Error("another verification is going on in this process: verify one after the other", "unavailable")
    lent = None
    try:
        name = fn if by_name else _name_of(fn)
        what = fn
        if not by_name:
            what = lent = Callable(fn, problems[0], name, supports, deterministic, amplification)
        with Engine(what, threads, settings, checks, seed) as engine:
            verdicts = Verdicts()
            for p in problems:
                if lent is not None:
                    lent.problem = p
                verdicts.append(_verify_one(engine, name, p))
    finally:
        if lent is not None:
            lent.close()
        _one_at_a_time.release()
    answer = verdicts if several else verdicts[0]
    if raises and not answer.passed:
        raise VerificationFailed(answer)
    return answer
