"""What would explain a wrong convolution (verify/explain.c): each mistake that is known there is made here, and must be named;
one that is not known must be called nothing."""

import unittest

import numpy as np

import benchcnn
import reference

PROBLEM = "mb2ic3ih9iw8oc3kh3kw3sh2sw1ph1pw2dh1dw2"


class Changed:
    """A problem with other values in some fields."""

    def __init__(self, problem, **fields):
        self.problem, self.fields = problem, fields

    def __getattr__(self, name):
        return self.fields[name] if name in self.fields else getattr(self.problem, name)


def cross(x, w, b, p):
    return reference.forward(x, w, b, p)


MISTAKES = {
    "w with its rows and columns swapped": lambda x, w, b, p: cross(x, w.transpose(0, 1, 3, 2), b, p),
    "w turned by 180 degrees": lambda x, w, b, p: cross(x, w[:, :, ::-1, ::-1], b, p),
    "w with its input and output channels swapped": lambda x, w, b, p: cross(x, w.transpose(1, 0, 2, 3), b, p),
    "it is what comes without the bias": lambda x, w, b, p: cross(x, w, None, p),
    "of twice the bias": lambda x, w, b, p: cross(x, w, 2 * b, p),
    "of the first channel's bias for all": lambda x, w, b, p: cross(x, w, b[:1].repeat(len(b)), p),
    "ph and pw swapped": lambda x, w, b, p: cross(x, w, b, Changed(p, ph=p.pw, pw=p.ph)),
    "sh and sw swapped": lambda x, w, b, p: cross(x, w, b, Changed(p, sh=p.sw, sw=p.sh)),
    "dh and dw swapped": lambda x, w, b, p: cross(x, w, b, Changed(p, dh=p.dw, dw=p.dh)),
    "without the padding": lambda x, w, b, p: cross(x, w, b, Changed(p, ph=0, pw=0)),
    "of a stride of 1": lambda x, w, b, p: cross(x, w, b, Changed(p, sh=1, sw=1)),
    "without the dilation": lambda x, w, b, p: cross(x, w, b, Changed(p, dh=0, dw=0)),
    "the dilation of rows is left out": lambda x, w, b, p: cross(x, w, b, Changed(p, dh=0)),
    "the dilation of columns is left out": lambda x, w, b, p: cross(x, w, b, Changed(p, dw=0)),
    "a dilation that is one less": lambda x, w, b, p: cross(x, w, b, Changed(p, dh=p.dh - 1, dw=p.dw - 1)),
}


class Explained(unittest.TestCase):
    def reason(self, function, problem=PROBLEM, **options):
        verdict = benchcnn.verify(function, problem, **options)
        self.assertEqual(verdict.state, "FAILED", verdict)
        return verdict.reason

    def test_each(self):
        for words, mistake in MISTAKES.items():
            for dtype in "f32", "f64":
                with self.subTest(words, dtype=dtype):
                    reason = self.reason(lambda x, w, b, problem: mistake(x, w, b, problem), dtype=dtype)
                    self.assertIn(words, reason)
                    self.assertIn("y is not equal: it is what comes", reason)

    def test_said_once(self):
        verdict = benchcnn.verify(lambda x, w, b, problem: cross(x, w, None, problem), PROBLEM)
        self.assertEqual(str(verdict).count("without the bias"), 1)

    def test_unknown(self):
        def shifted(x, w, b, problem):
            return np.roll(cross(x, w, b, problem), 1, axis=3)

        self.assertEqual(self.reason(shifted), "y is not equal")
        # Right but for one element: no explanation of all.
        def nearly(x, w, b, problem):
            y = cross(x, w, None, problem)
            y[0, 0, 0, 0] += 1
            return y

        self.assertEqual(self.reason(nearly), "y is not equal")

    def test_kept(self):
        for name, words in ("w", "of the w of an earlier call"), ("x", "of the x of an earlier call"), ("b", "of the b of an earlier"):
            kept = {}

            def keeps(x, w, b, problem):
                its = {"x": x, "w": w, "b": b}
                its[name] = kept.setdefault(name, its[name])
                return cross(its["x"], its["w"], its["b"], problem)

            self.assertIn(words, self.reason(keeps))
        results = {}
        self.assertIn("it is the result of an earlier call", self.reason(
            lambda x, w, problem: results.setdefault("y", cross(x, w, None, problem))))

    def test_other_directions(self):
        self.assertIn("w turned by 180 degrees", self.reason(
            lambda dy, w, problem: reference.backward_data(dy, w[:, :, ::-1, ::-1], problem), dir="BWD_D"))
        self.assertIn("ph and pw swapped", self.reason(
            lambda x, dy, problem: reference.backward_weights(x, dy, Changed(problem, ph=problem.pw, pw=problem.ph))[0],
            dir="BWD_W"))

    def test_groups(self):
        problem = "g3mb2ic6ih5oc3kh3ph1"
        for channels, words in ([0, 1, 1, 2, 2, 3], "group i begins at channel i"), ([0, 1, 0, 1, 0, 1], "the channels of the first"):
            self.assertIn(words, self.reason(lambda x, w, problem: cross(x[:, channels], w, None, problem), problem))

    def test_fc(self):
        def swapped(x, w):
            return np.einsum("nchw,ckhw->nk", x, w).reshape(2, 5)

        shape = benchcnn.Problem("mb2ic5oc5", op="fc", bias=False).arrays[-1].shape
        self.assertIn("channels swapped", self.reason(lambda x, w: swapped(x, w).reshape(shape), "mb2ic5oc5", op="fc"))

    def test_added_twice(self):
        def adds(x, w, y, problem):  # what is asked with beta 1 comes to a kernel as a result alone
            y[...] = 2 * cross(x, w, None, problem)

        self.assertIn("twice", str(benchcnn.verify(adds, PROBLEM)))


if __name__ == "__main__":
    unittest.main()
