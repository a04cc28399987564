"""Computing on a user's arrays."""

import ctypes

import numpy

from ._engine import Engine
from ._library import EACH, Error, Values
from ._problem import Problem
from ._results import Result, VerificationFailed, Verdict


def _double(info, value, what):
    """An array as the library takes it: float64, in C order; its shape and kind of number checked."""
    given = numpy.asarray(value)
    if given.shape != info.shape:
        raise Error(f"{what} has the shape {given.shape}, but of this problem it is {info.shape}")
    whole = issubclass(info.dtype, numpy.integer)
    if whole and given.dtype.kind not in "iu":
        raise Error(f"{what} is {given.dtype}, but holds whole numbers")
    if not whole and given.dtype.kind != "f":
        raise Error(f"{what} is {given.dtype}, but holds real numbers: numpy.float32 or float64")
    return numpy.array(given, dtype=numpy.float64, order="C")


def _dtype_of(arrays):
    """f64 where a real array is one; all must be of one type."""
    types = {str(numpy.asarray(a).dtype) for a in arrays.values() if numpy.asarray(a).dtype.kind == "f"}
    if len(types) > 1 or not types <= {"float32", "float64"}:
        raise Error(f"the arrays are {', '.join(sorted(types))}: all must be of one type, float32 or float64")
    return "f64" if types == {"float64"} else "f32"


def _as_problem(problem, arrays, op, dir, layout, math, bias, flip):
    """With arrays as PyTorch has them, whatever the layout that the implementation is given."""
    if isinstance(problem, Problem):
        dtype = _dtype_of(arrays)
        return Problem(problem.text, problem.op, problem.dir, dtype, problem.layout, problem.math, problem.bias, problem.flip)
    if bias is None:
        bias = "b" in arrays
    return Problem(problem, op, dir, _dtype_of(arrays), layout, math, bias, flip)


def _run(problem, impl, arrays, expect, threads, settings, **held):
    shown = Problem(problem.text, problem.op, problem.dir, problem.dtype, "nchw", problem.math, problem.bias, problem.flip)
    known = {i.name for i in shown.arrays if i.is_read}
    unknown = [name for name in arrays if name not in known]
    if unknown:
        raise Error(f"{', '.join(unknown)}: {shown.op} {shown.dir} reads {', '.join(sorted(known))}")
    unknown = [name for name in expect if name not in [i.name for i in shown.arrays if i.is_written]]
    if unknown:
        raise Error(f"{', '.join(unknown)}: {shown.op} {shown.dir} writes "
                    f"{', '.join(i.name for i in shown.arrays if i.is_written)}")
    values, kept, out = Values(), [], {}
    for i, info in enumerate(shown.arrays):
        if info.is_read:
            if info.name not in arrays:
                raise Error(f"{info.name} is missing: {shown.op} {shown.dir} reads {', '.join(sorted(known))}")
            kept.append(_double(info, arrays[info.name], info.name))
            values.in_[i] = kept[-1].ctypes.data
        if info.is_written:
            out[info.name] = numpy.empty(info.shape)
            values.out[i] = out[info.name].ctypes.data
        if info.name in expect:
            kept.append(_double(info, expect[info.name], "the expected " + info.name))
            values.expect[i] = kept[-1].ctypes.data
            values.expect_f64[i] = numpy.asarray(expect[info.name]).dtype == numpy.float64
    values.expect_math = held["expect_math"].encode() if held.get("expect_math") else None
    values.close = held.get("rtol") is not None or held.get("atol") is not None
    values.rtol, values.atol = held.get("rtol") or 0.0, held.get("atol") or 0.0
    results = []
    with Engine(impl, threads, settings) as engine:
        engine.call("api_compute", problem._handle, ctypes.byref(values), EACH(lambda raw: results.append(Result(raw.contents))))
    dtypes = {info.name: info.dtype for info in shown.arrays}
    return {name: a.astype(dtypes[name]) for name, a in out.items()}, Verdict(impl, problem, results)


def compute(problem, impl, arrays, op="conv", dir="FWD", layout="nchw", math="f32", bias=None, flip=False, threads=None,
            settings=None):
    """One operation on your arrays, by an implementation: `benchcnn compute`.

    problem: a descriptor or a Problem. impl: "NAME" or "NAME:ALGORITHM". arrays: what the operation reads, by name (`benchcnn
    describe` lists the names and shapes), float32 or float64, all of one type, which is the problem's; shapes are PyTorch's.
    layout: what the implementation works in; the arrays stay as they are.

    Returns the result, or, where there are several, a dict by name. Raises Error for arrays that do not fit and for what the
    implementation does not do, VerificationFailed where it wrote what it must not.
    """
    p = _as_problem(problem, arrays, op, dir, layout, math, bias, flip)
    out, verdict = _run(p, impl, arrays, {}, threads, settings)
    if verdict.failed:
        raise VerificationFailed(verdict)
    return next(iter(out.values())) if len(out) == 1 else out


def compare(problem, impl, arrays, expect, op="conv", dir="FWD", layout="nchw", math="f32", bias=None, flip=False,
            rtol=None, atol=None, expect_math=None, threads=None, settings=None):
    """What an implementation computes of your arrays, against what another program made of them: `benchcnn compute --expect`.

    expect: outputs by name. rtol, atol: |got - expected| <= atol + rtol |expected|, in the place of the bound of rounding.
    expect_math: the arithmetic of what is expected, "tf32" for PyTorch's on a GPU. The rest as of compute().
    Returns a Verdict. docs/arrays.md says what its words mean.
    """
    if not expect:
        raise Error("expect is empty: name an output, {'y': array}")
    p = _as_problem(problem, arrays, op, dir, layout, math, bias, flip)
    return _run(p, impl, arrays, expect, threads, settings, rtol=rtol, atol=atol, expect_math=expect_math)[1]


def _pair(value, name):
    values = (value, value) if numpy.isscalar(value) else tuple(value)
    if len(values) != 2 or not all(isinstance(v, (int, numpy.integer)) for v in values):
        raise Error(f"{name} is {value!r}; it is a whole number, or two: of rows and columns")
    return values


def conv(x, w, b=None, problem=None, stride=1, padding=0, dilation=1, groups=1, impl="cpu:direct", layout="nchw", math="f32",
         threads=None, settings=None):
    """A convolution as torch.nn.functional.conv2d: x (n, c, h, w), w (oc, c/groups, kh, kw), b (oc,) or None.

    stride, padding, dilation: a number, or (rows, columns); a dilation of 1 leaves nothing out. Or problem: a descriptor, in
    their place. impl, layout, math and what is raised: as of compute(). Returns y.
    """
    x, w = numpy.asarray(x), numpy.asarray(w)
    arrays = {"x": x, "w": w} if b is None else {"x": x, "w": w, "b": b}
    if problem is None:
        if x.ndim != 4 or w.ndim != 4:
            raise Error(f"x has the shape {x.shape} and w {w.shape}; both have four dimensions")
        (sh, sw), (ph, pw), (dh, dw) = (_pair(v, n) for v, n in ((stride, "stride"), (padding, "padding"),
                                                                  (dilation, "dilation")))
        problem = (f"g{groups}mb{x.shape[0]}ic{x.shape[1]}ih{x.shape[2]}iw{x.shape[3]}oc{w.shape[0]}kh{w.shape[2]}"
                   f"kw{w.shape[3]}sh{sh}sw{sw}ph{ph}pw{pw}dh{dh - 1}dw{dw - 1}")
    return compute(problem, impl, arrays, layout=layout, math=math, threads=threads, settings=settings)
