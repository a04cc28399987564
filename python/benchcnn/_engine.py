"""Implementations: which there are, and one that is open."""

import ctypes
import os

from . import _library as lib
from ._callable import Callable
from ._library import Error, call, library

_registry = ctypes.c_void_p()
call("api_registry_new", ctypes.byref(_registry))


def implementations():
    """The names of the implementations that are built in or were loaded; `benchcnn list` says more of them."""
    text = ctypes.create_string_buffer(4096)
    library.api_registry_names(_registry, text, len(text))
    return text.value.decode().split()


def load_plugin(path):
    """Loads a plug-in (docs/plugins.md) for the rest of the process; its name is then one of implementations().

    Its code runs in this process: what `benchcnn verify --plugin` survives ends Python. Raises Error where it is none.
    """
    call("api_registry_load", _registry, os.fspath(path).encode())


class Engine:
    """An open implementation: a name, or a Callable. Used with `with`."""

    def __init__(self, what, threads, settings, checks=None, seed=1, device=0):
        self.handle = ctypes.c_void_p()
        self.what = what
        self.interrupt = None
        self.asked = lib.ASKED(self._interrupted)
        impl, algorithm = ctypes.c_void_p(), ctypes.c_char_p()
        if isinstance(what, Callable):
            impl.value = what.impl
        else:
            self.name = what.encode()
            call("api_registry_find", _registry, self.name, ctypes.byref(impl), ctypes.byref(algorithm))
        if threads is None:
            threads = len(os.sched_getaffinity(0))
        texts = [f"{name}={value}".encode() for name, value in (settings or {}).items()]
        listed = (ctypes.c_char_p * max(len(texts), 1))(*texts)
        names = ",".join([checks] if isinstance(checks, str) else checks).encode() if checks else None
        params = lib.OpenParams(threads, device, listed, len(texts), names, seed, self.asked)
        call("api_engine_open", impl, algorithm, ctypes.byref(params), ctypes.byref(self.handle))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        library.api_engine_close(self.handle)
        self.handle = None

    def _interrupted(self):
        try:
            return self.pending() is not None
        except KeyboardInterrupt as error:
            self.interrupt = error
            return True

    def pending(self):
        """The KeyboardInterrupt that ends this run, if there was one."""
        return self.interrupt or (self.what.interrupt if isinstance(self.what, Callable) else None)

    def call(self, name, *arguments):
        """As _library.call(); an interrupt is raised as what it is."""
        try:
            call(name, self.handle, *arguments)
        except Error:
            if self.pending() is None:
                raise
        if self.pending() is not None:
            raise self.pending()
