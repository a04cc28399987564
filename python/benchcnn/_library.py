"""The shared library libbenchcnn.so, which stands beside this file, as ctypes sees it: python/api.h in the sources."""

import ctypes
import os
from ctypes import POINTER, CFUNCTYPE, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p

import numpy

VERSION = 1
OPERANDS = 12
IN, OUT, IN_OUT = range(3)
TYPES = (numpy.float32, numpy.float64, numpy.int32, numpy.int64, numpy.float16, numpy.uint16,  # bf16: its bits
         numpy.uint8, numpy.int8)
OK, INTERRUPTED = 0, 9
STATUSES = ("ok", "bad argument", "bad format", "size overflow", "out of memory", "input/output error", "unsupported",
            "unavailable", "device error", "interrupted", "internal error")


class Error(Exception):
    """Something could not be done. `status` says of what kind it is: "bad argument", "unsupported", "out of memory"..."""

    def __init__(self, message, status="bad argument"):
        super().__init__(message)
        self.status = status


class CError(Structure):
    _fields_ = [("status", c_int), ("file", c_char_p), ("line", c_int), ("message", c_char * 512)]


class Terms(Structure):
    _fields_ = [(name, c_char_p) for name in ("op", "dir", "dtype", "layout", "math")] + [("bias", c_int), ("flip", c_int)]


class Array(Structure):
    _fields_ = [("name", c_char_p), ("access", c_int), ("type", c_int), ("tensor", c_int), ("n_dims", c_int),
                ("dims", c_int64 * 5), ("count", c_int64), ("bytes", c_size_t), ("data", c_void_p)]


class Call(Structure):
    _fields_ = [("problem", c_char_p), ("dir", c_char_p), ("count", c_int), ("arrays", POINTER(Array)),
                ("scale", c_double), ("message", c_void_p), ("message_size", c_size_t)]


RUN = CFUNCTYPE(c_int, POINTER(Call))
SUPPORTS = CFUNCTYPE(c_int, c_char_p, c_char_p, c_void_p, c_size_t)


class CallableSpec(Structure):
    _fields_ = [("name", c_char_p), ("op", c_char_p), ("dir", c_char_p), ("deterministic", c_int), ("amplification", c_double), ("run", RUN),
                ("supports", SUPPORTS)]


ASKED = CFUNCTYPE(c_bool)


class OpenParams(Structure):
    _fields_ = [("threads", c_int), ("device", c_int), ("settings", POINTER(c_char_p)), ("n_settings", c_int),
                ("checks", c_char_p), ("seed", c_uint64), ("interrupted", ASKED)]


class CResult(Structure):
    _fields_ = [(name, c_char_p) for name in ("check", "state", "algorithm", "reason", "worst", "where", "precision",
                                              "transform")] + [("budget_used", c_double)]


class Failure(Structure):
    _fields_ = [("check", c_char_p), ("count", c_int), ("arrays", POINTER(Array))] + [
        (name, POINTER(c_void_p)) for name in ("before", "expected", "got")]


EACH = CFUNCTYPE(None, POINTER(CResult))
FAILED = CFUNCTYPE(None, POINTER(Failure))


class Values(Structure):
    _fields_ = [(name, c_void_p * OPERANDS) for name in ("in_", "out", "expect")] + [
        ("expect_f64", c_int * OPERANDS), ("expect_math", c_char_p), ("close", c_int), ("rtol", c_double), ("atol", c_double)]


class BenchParams(Structure):
    _fields_ = [("min_time", c_double), ("max_time", c_double), ("warm_up", c_double), ("cold", c_int), ("seed", c_uint64)]


class CTimes(Structure):
    _fields_ = [(name, c_double) for name in ("median", "least", "low", "high")] + [
        ("count", c_int), ("repeats", c_int), ("workspace_bytes", c_size_t), ("flops", c_double), ("bytes", c_double),
        ("marks", c_char * 128)]


# Name, result (c_int: a status, and the last argument a CError), arguments.
FUNCTIONS = (
    ("api_version", c_int, ()),
    ("api_problem_new", c_int, (POINTER(Terms), c_char_p, POINTER(c_void_p), POINTER(CError))),
    ("api_problem_free", None, (c_void_p,)),
    ("api_problem_text", c_char_p, (c_void_p,)),
    ("api_problem_arrays", c_int, (c_void_p, POINTER(Array))),
    ("api_problem_fields", None, (c_void_p, c_char_p, c_size_t)),
    ("api_default_problem", c_char_p, (c_char_p, c_int)),
    ("api_registry_new", c_int, (POINTER(c_void_p), POINTER(CError))),
    ("api_registry_load", c_int, (c_void_p, c_char_p, POINTER(CError))),
    ("api_registry_names", None, (c_void_p, c_char_p, c_size_t)),
    ("api_registry_find", c_int, (c_void_p, c_char_p, POINTER(c_void_p), POINTER(c_char_p), POINTER(CError))),
    ("api_callable_new", c_int, (POINTER(CallableSpec), POINTER(c_void_p), POINTER(CError))),
    ("api_callable_free", None, (c_void_p,)),
    ("api_callable_impl", c_void_p, (c_void_p,)),
    ("api_engine_open", c_int, (c_void_p, c_char_p, POINTER(OpenParams), POINTER(c_void_p), POINTER(CError))),
    ("api_engine_close", None, (c_void_p,)),
    ("api_verify", c_int, (c_void_p, c_void_p, EACH, FAILED, POINTER(CError))),
    ("api_compute", c_int, (c_void_p, c_void_p, POINTER(Values), EACH, POINTER(CError))),
    ("api_bench", c_int, (c_void_p, c_void_p, POINTER(BenchParams), POINTER(CTimes), EACH, POINTER(CError))),
)


def _open():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libbenchcnn.so")
    try:
        opened = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"{path} cannot be loaded ({error}): build the target benchcnn_python, and set PYTHONPATH to "
                          "python/ in the build folder, or install benchcnn") from error
    for name, result, arguments in FUNCTIONS:
        function = getattr(opened, name)
        function.restype, function.argtypes = result, list(arguments)
    if opened.api_version() != VERSION:
        raise ImportError(f"{path} has version {opened.api_version()} of its interface, and this module is for {VERSION}: "
                          "build both anew")
    return opened


library = _open()


def call(name, *arguments):
    """Calls a function that returns a status; raises Error where it is not OK."""
    error = CError()
    status = getattr(library, name)(*arguments, ctypes.byref(error))
    if status == OK:
        return
    kind = STATUSES[status] if 0 <= status < len(STATUSES) else f"status {status}"
    raise Error(error.message.decode(errors="replace"), kind)


def shape_of(array, layout):
    """The shape in memory: PyTorch's, but for tensors whose channels come last."""
    dims = tuple(array.dims[:array.n_dims])
    return dims[:1] + dims[2:] + dims[1:2] if array.tensor and layout == "nhwc" else dims


def view(array, layout):
    """The memory that an Array points to, as a NumPy array; only good while the memory is there."""
    raw = (c_char * array.bytes).from_address(array.data)
    return numpy.frombuffer(raw, TYPES[array.type]).reshape(shape_of(array, layout))
