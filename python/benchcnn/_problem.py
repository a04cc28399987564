"""Problems: a descriptor of the suite with all that it does not say."""

import ctypes

from ._library import IN, OUT, OPERANDS, TYPES, Array, Error, Terms, call, library, shape_of


class ArrayInfo:
    """An array of a problem: its name, shape, NumPy dtype, and whether it is read and written."""

    def __init__(self, array, layout):
        self.name = array.name.decode()
        self.shape = shape_of(array, layout)
        self.dtype = TYPES[array.type]
        self.is_read = array.access != OUT
        self.is_written = array.access != IN

    def __repr__(self):
        how = "in, out" if self.is_read and self.is_written else "in" if self.is_read else "out"
        return f"{self.name} {self.shape} {self.dtype.__name__} ({how})"


class Problem:
    """One operation on one set of shapes in one direction.

    text: a descriptor as `benchcnn describe` takes it, "mb2ic3ih16oc8kh3ph1". op: "conv", "fc", "pool"... dir: "FWD",
    "BWD_D", "BWD_W". dtype: "f32", "f64", "f16", "bf16" (arrays of uint16 that hold its bits), or of
    factors and result: "u8:s8:s32", "s8:s8:s32", "f16:f16:f32", "bf16:bf16:f32", quantized "u8:s8:u8", "u8:s8:s8", "s8:s8:s8", "s8:s8:u8". layout: "nchw" or "nhwc": the order of tensors in memory, and of their shapes.
    bias: of a convolution or FC. flip: convolution instead of cross-correlation. Raises Error for what is no problem.

    Every field of the descriptor is an attribute: problem.mb, problem.kh, problem.ph... `arrays` lists the arrays.
    """

    def __init__(self, text, op="conv", dir="FWD", dtype="f32", layout="nchw", math="f32", bias=True, flip=False):
        self._handle = ctypes.c_void_p()
        for name, value in (("text", text), ("op", op), ("dir", dir), ("dtype", dtype), ("layout", layout), ("math", math)):
            if not isinstance(value, str):
                raise Error(f"{name} is {value!r}; it is a text")
        self.op, self.dir, self.dtype, self.layout, self.math = op, dir.upper(), dtype, layout.lower(), math
        self.bias, self.flip = bool(bias), bool(flip)
        terms = Terms(*(t.encode() for t in (op, dir, dtype, layout, math)), self.bias, self.flip)
        call("api_problem_new", ctypes.byref(terms), text.encode(), ctypes.byref(self._handle))
        self.text = library.api_problem_text(self._handle).decode()
        self.fields = self._read_fields()
        self.arrays = self._read_arrays()

    def __del__(self):
        if library is not None and self._handle:
            library.api_problem_free(self._handle)
            self._handle = None

    def __getattr__(self, name):
        fields = self.__dict__.get("fields", {})
        if name in fields:
            return fields[name]
        raise AttributeError(f"a problem of {self.__dict__.get('op')} has no {name}; it has {', '.join(fields)}")

    def __repr__(self):
        return f"Problem({self.text!r}, op={self.op!r}, dir={self.dir!r}, dtype={self.dtype!r})"

    def __str__(self):
        math = "" if self.math == "f32" else f" {self.math}"
        return f"{self.op} {self.dir} {self.text} {self.dtype} {self.layout}{math}"

    def _read_fields(self):
        text = ctypes.create_string_buffer(8192)
        library.api_problem_fields(self._handle, text, len(text))
        fields = {}
        for word in text.value.decode().split():
            name, _, value = word.partition("=")
            for kind in (int, float, str):
                try:
                    fields[name] = kind(value)
                    break
                except ValueError:
                    continue
        return fields

    def _read_arrays(self):
        raw = (Array * OPERANDS)()
        count = library.api_problem_arrays(self._handle, raw)
        return [ArrayInfo(raw[i], self.layout) for i in range(count)]

    def with_text(self, text):
        """The same terms with another descriptor."""
        return Problem(text, self.op, self.dir, self.dtype, self.layout, self.math, self.bias, self.flip)


def default_problems(op="conv"):
    """The descriptors that `benchcnn verify` checks an operation with unless it is told others."""
    texts = []
    while (text := library.api_default_problem(op.encode(), len(texts))) is not None:
        texts.append(text.decode())
    if not texts:
        raise Error(f"there are no problems of an operation {op!r}; `benchcnn list` shows the operations")
    return texts
