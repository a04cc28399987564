"""A Python callable as an implementation: the C library calls it back for each run of the verifier."""

import ctypes
import inspect
import traceback

import numpy

from ._library import IN, OUT, RUN, SUPPORTS, CallableSpec, call, library, shape_of, view
from ._problem import Problem

BAND = 4096  # bytes around each array that must stay as they are
FILLED = 0xFF  # of every float a NaN


def changed(at, where):
    """What `benchcnn verify` says of bytes beside an array that are changed."""
    if len(at) == 1:
        return f"1 byte {where} is changed, at {at[0]:+d}"
    return f"{len(at)} bytes {where} are changed, at {at[0]:+d} to {at[-1]:+d}"


class Copy:
    """A copy of an array that NumPy owns, between bands that are looked at behind the call."""

    def __init__(self, array, layout):
        self.name = array.name.decode()
        self.access = array.access
        self.array = None
        if not array.data:  # an activation's backward after a forward in place has no x
            return
        self.memory = view(array, layout)
        self.before = self.memory.tobytes() if array.access == IN else None
        raw = numpy.full(array.bytes + 2 * BAND + 64, FILLED, numpy.uint8)
        self.start = BAND + -(raw.ctypes.data + BAND) % 64
        self.end = self.start + array.bytes
        self.raw = raw
        self.array = raw[self.start:self.end].view(self.memory.dtype).reshape(self.memory.shape)
        self.array[...] = self.memory

    def check(self):
        """What was written where nothing may be, raised; an input that was changed is, for the verifier to see."""
        if self.array is None:
            return
        behind = numpy.flatnonzero(self.raw[self.end:] != FILLED)
        ahead = numpy.flatnonzero(self.raw[:self.start] != FILLED)
        if len(behind):
            raise MemoryError(f"wrote past {self.name}: {changed(behind, 'beyond its end')}")
        if len(ahead):
            raise MemoryError(f"wrote before {self.name}: {changed(ahead - self.start, 'before its start')}")
        if self.before is not None and self.array.tobytes() != self.before:
            self.memory[...] = self.array

    def give(self, value):
        """Puts a result where the harness looks for it."""
        given = numpy.asarray(value)
        if given.shape != self.memory.shape:
            raise ValueError(f"{self.name} came back with the shape {given.shape}, but of this problem it is "
                             f"{self.memory.shape}")
        if not numpy.can_cast(given.dtype, self.memory.dtype, "same_kind"):
            raise TypeError(f"{self.name} came back as {given.dtype}, which is no {self.memory.dtype}")
        self.memory[...] = given


class Parameters:
    """Which of what is there a callable takes, by the names of its parameters."""

    def __init__(self, function):
        try:
            self.list = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            self.list = None  # a builtin tells no names: it gets what is read, in order
        kinds = inspect.Parameter
        self.names = None if self.list is None else {
            p.name for p in self.list if p.kind not in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)}
        self.takes_any = self.list is not None and any(p.kind == kinds.VAR_KEYWORD for p in self.list)
        self.takes_list = self.list is None or any(p.kind == kinds.VAR_POSITIONAL for p in self.list)

    def takes(self, name):
        return self.names is not None and (name in self.names or self.takes_any)

    def fit(self, copies, problem, scale):
        """The arguments of one call: positional ones, and those by name."""
        read = [c for c in copies if c.access != OUT]
        if self.names is None or (self.takes_list and not self.names):
            return [c.array for c in read], {}
        known = dict(problem.fields, problem=problem, scale=scale, b=None)
        known.update({c.name: c.array for c in copies})
        positional, named = [], {}
        for p in self.list:
            if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
                continue
            if p.name not in known:
                if p.default is p.empty:
                    raise TypeError(f"it has a parameter {p.name}, which this problem has no value for; there are "
                                    f"{', '.join(known)}")
                continue
            if p.kind == p.KEYWORD_ONLY:
                named[p.name] = known[p.name]
            else:
                positional.append(known[p.name])
        if self.takes_any:
            named.update({c.name: c.array for c in read if c.name not in self.names})
        return positional, named


class Callable:
    """Lends a Python callable to the C library, until close()."""

    def __init__(self, function, problem, name, supports, deterministic, amplification):
        self.function, self.problem, self.name = function, problem, name
        self.asks = supports
        self.parameters = Parameters(function)
        self.problems = {}
        self.exception = self.interrupt = None
        self.run, self.supports = RUN(self._run), SUPPORTS(self._supports) if supports is not None else SUPPORTS()
        spec = CallableSpec(name.encode(), problem.op.encode(), problem.dir.encode(), bool(deterministic), amplification, self.run, self.supports)
        self.handle = ctypes.c_void_p()
        call("api_callable_new", ctypes.byref(spec), ctypes.byref(self.handle))
        self.impl = library.api_callable_impl(self.handle)

    def close(self):
        library.api_callable_free(self.handle)
        self.handle = None

    def _problem_of(self, text, direction):
        key = text, direction
        if key not in self.problems:
            p = self.problem
            bias = p.bias and p.op != "deconv"
            self.problems[key] = Problem(text.decode(), p.op, direction.decode(), p.dtype, p.layout, p.math, bias, p.flip)
        return self.problems[key]

    # What is raised in here must not leave: ctypes would drop it.
    def _run(self, pointer):
        asked = pointer.contents
        try:
            self._call(asked)
            return 0
        except KeyboardInterrupt as error:
            self.interrupt = error
            return self._tell(asked.message, asked.message_size, "interrupted")
        except BaseException as error:
            self.exception = error
            return self._tell(asked.message, asked.message_size, describe(error, self.function))

    def _supports(self, text, direction, why, size):
        try:
            answer = self.asks(self._problem_of(text, direction))
            if isinstance(answer, str):
                return self._tell(why, size, answer)
            return 0 if answer else 1
        except KeyboardInterrupt as error:
            self.interrupt = error
            return self._tell(why, size, "interrupted")
        except BaseException as error:
            self.exception = error
            return self._tell(why, size, "its supports raised " + describe(error, self.asks))

    @staticmethod
    def _tell(memory, size, message):
        text = message.encode(errors="replace")[:size - 1].decode(errors="ignore").encode() + b"\0"
        ctypes.memmove(memory, text, len(text))
        return 1

    def _call(self, asked):
        problem = self._problem_of(asked.problem, asked.dir)
        copies = [Copy(asked.arrays[i], problem.layout) for i in range(asked.count)]
        positional, named = self.parameters.fit(copies, problem, asked.scale)
        result = self.function(*positional, **named)
        for copy in copies:
            copy.check()
        written = [c for c in copies if c.access != IN]
        scaled = asked.scale != 1 and not self.parameters.takes("scale")
        for copy, value in zip(written, self._results(written, result)):
            copy.give(value * copy.memory.dtype.type(asked.scale) if scaled else value)

    def _results(self, written, result):
        """One value for each array that is written: what was returned, else what was filled."""
        if result is None:
            given = {}
        elif isinstance(result, dict):
            given = result
        elif len(written) == 1 and not isinstance(result, (tuple, list)):
            given = {written[0].name: result}
        else:
            values = list(result) if isinstance(result, (tuple, list)) else [result]
            if len(values) > len(written):
                raise ValueError(f"it returned {len(values)} arrays, but writes {', '.join(c.name for c in written)}")
            given = {c.name: value for c, value in zip(written, values)}
        unknown = [str(name) for name in given if name not in [c.name for c in written]]
        if unknown:
            raise ValueError(f"it returned {', '.join(unknown)}, but writes {', '.join(c.name for c in written)}")
        for c in written:
            if c.name not in given and not self.parameters.takes(c.name):
                raise ValueError(f"it returned no {c.name}, and has no parameter {c.name} that it could fill")
        return [given.get(c.name, c.array) for c in written]


def describe(error, function):
    """An exception in a line: what it is, and where in the callable's own file it was raised."""
    code = getattr(inspect.unwrap(function) if callable(function) else function, "__code__", None)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
    own = [f for f in frames if code is not None and f.filename == code.co_filename]
    text = " ".join(f"{type(error).__name__}: {error}".split())
    if not frames:
        return text
    frame = (own or frames)[-1]
    return f"{text[:280]} ({frame.filename}, line {frame.lineno})"
