"""benchcnn.conv, compute, compare, bench: by implementations, against NumPy; what is refused."""

import unittest

import numpy as np

import benchcnn
import reference

rng = np.random.default_rng(1)
IMPLS = ["cpu:direct", "cpu:im2col"] if "cpu" in benchcnn.implementations() else []


def arrays(problem, dtype="f4"):
    """Random ones for all that a problem reads."""
    return {a.name: rng.standard_normal(a.shape).astype(dtype) for a in problem.arrays if a.is_read}


@unittest.skipUnless(IMPLS, "the implementation cpu is not built")
class Computing(unittest.TestCase):
    def test_conv(self):
        for impl in IMPLS:
            for dtype, close in ("f4", 1e-5), ("f8", 1e-12):
                for stride, padding, dilation, groups in (1, 0, 1, 1), (2, 1, 1, 2), ((1, 2), (0, 2), (2, 1), 1):
                    x = rng.standard_normal((2, 4, 9, 8)).astype(dtype)
                    w = rng.standard_normal((6, 4 // groups, 3, 2)).astype(dtype)
                    b = rng.standard_normal(6).astype(dtype)
                    y = benchcnn.conv(x, w, b, stride=stride, padding=padding, dilation=dilation, groups=groups, impl=impl)
                    (sh, sw), (ph, pw), (d, e) = (np.broadcast_to(v, 2) for v in (stride, padding, dilation))
                    problem = benchcnn.Problem(f"g{groups}mb2ic4ih9iw8oc6kh3kw2sh{sh}sw{sw}ph{ph}pw{pw}dh{d - 1}dw{e - 1}")
                    self.assertEqual((y.dtype, y.shape), (np.dtype(dtype), (2, 6, problem.oh, problem.ow)))
                    np.testing.assert_allclose(y, reference.forward(x, w, b, problem), close, close)
                    again = benchcnn.conv(x, w, b, problem=problem.text, impl=impl, layout="nhwc", threads=1)
                    np.testing.assert_allclose(again, y, close, close)

    def test_not_contiguous(self):
        x = rng.standard_normal((9, 8, 4, 2)).astype("f4").T[:, ::2]
        w = rng.standard_normal((3, 2, 3, 3)).astype("f4")
        y = benchcnn.conv(x, w, dilation=(2, 1))
        np.testing.assert_array_equal(y, benchcnn.conv(x.copy(), w.copy(), dilation=(2, 1)))

    def test_backward(self):
        text = "g2mb2ic4ih9oc6kh3sh2ph1"
        for direction, function in ("BWD_D", reference.backward_data), ("BWD_W", reference.backward_weights):
            problem = benchcnn.Problem(text, dir=direction, bias=False)
            its = arrays(problem, "f8")
            got = benchcnn.compute(problem, "cpu:direct", its)
            wanted = function(*its.values(), problem)
            np.testing.assert_allclose(got, wanted[0] if direction == "BWD_W" else wanted, 1e-12, 1e-12)
        both = benchcnn.compute(text, "cpu:direct", its, dir="BWD_W", bias=True)
        self.assertEqual(sorted(both), ["db", "dw"])
        np.testing.assert_allclose(both["db"], wanted[1], 1e-12)

    def test_others(self):
        x = rng.standard_normal((2, 3, 4, 4)).astype("f4")
        np.testing.assert_array_equal(benchcnn.compute("relu:mb2ic3ih4", "cpu", {"x": x}, op="act"), np.maximum(x, 0))
        logits, labels = rng.standard_normal((3, 5)), np.array([0, 4, 2])
        shapes = {a.name: a.shape for a in benchcnn.Problem("mb3ic5", op="loss").arrays}
        its = {"x": logits.reshape(shapes["x"]), "labels": labels.reshape(shapes["labels"]), "loss_sum": np.zeros(shapes["loss_sum"]),
               "correct": np.zeros(shapes["correct"], int)}
        got = benchcnn.compute("mb3ic5", "cpu", its, op="loss")
        e = np.exp(logits)
        self.assertAlmostEqual(float(got["loss_sum"][0]), -np.log((e / e.sum(1, keepdims=True))[range(3), labels]).sum(), 12)
        self.assertEqual(got["correct"].dtype, np.int64)
        its["labels"] = its["labels"] + 1
        with self.assertRaisesRegex(benchcnn.Error, "labels holds 5, but labels of this problem are from 0 to below 5"):
            benchcnn.compute("mb3ic5", "cpu", its, op="loss")

    def test_refused(self):
        x, w = np.zeros((1, 2, 5, 5), "f4"), np.zeros((3, 2, 3, 3), "f4")
        for words, its, options in (
                ("w has the shape (3, 2, 3, 3), but of this problem it is (3, 2, 2, 2)", {}, {"problem": "mb1ic2ih5oc3kh2"}),
                ("arrays are float32, float64", {"x": x.astype("f8")}, {}),
                ("x is int64, but holds real", {"x": x.astype(int)}, {}),
                ("x has the shape (5, 5)", {"x": x[0, 0]}, {}),
                ("kernel", {"x": x[:, :, :2]}, {}),
                ("stride is 1.5", {}, {"stride": 1.5}),
                ("padding is (1, 2, 3)", {}, {"padding": (1, 2, 3)}),
                ("did you mean 'cpu'", {}, {"impl": "cpuu"}),
                ("no algorithm gem", {}, {"impl": "cpu:gem"}),
                ("settings", {}, {"settings": {"cpu.nothing": 1}})):
            with self.subTest(words), self.assertRaises(benchcnn.Error) as caught:
                benchcnn.conv(**{"x": x, "w": w, **its}, **options)
            if words != "settings":
                self.assertIn(words, str(caught.exception))
        for words, its in ("w is missing: conv FWD reads w, x", {"x": x}), ("z: conv FWD reads w, x", {"x": x, "w": w, "z": x}):
            with self.assertRaises(benchcnn.Error) as caught:
                benchcnn.compute("mb1ic2ih5oc3kh3", "cpu:direct", its)
            self.assertIn(words, str(caught.exception))
        self.assertRaisesRegex(benchcnn.Error, "nowhere.so", benchcnn.load_plugin, "/nowhere.so")


@unittest.skipUnless(IMPLS, "the implementation cpu is not built")
class Comparing(unittest.TestCase):
    def setUp(self):
        self.problem = benchcnn.Problem("mb2ic20ih8oc5kh3ph1", bias=False)
        self.arrays = arrays(self.problem)
        self.y = reference.forward(*self.arrays.values(), None, self.problem)

    def compare(self, y, **options):
        return benchcnn.compare(self.problem, "cpu:direct", self.arrays, {"y": y}, **options)

    def test_expect(self):
        self.assertTrue(self.compare(self.y), self.compare(self.y))
        wrong = self.y.copy()
        wrong[1, 2, 3, 4] += 0.01
        verdict = self.compare(wrong)
        self.assertEqual(verdict.state, "FAILED")
        self.assertIn("y[n=1,c=2,h=3,w=4]", str(verdict))
        self.assertTrue(self.compare(wrong, atol=0.02))
        self.assertEqual(self.compare(wrong, rtol=1e-6).state, "FAILED")

    def test_other_arithmetic(self):
        halves = {name: a.astype("f2").astype("f4") for name, a in self.arrays.items()}
        y = reference.forward(*halves.values(), None, self.problem)
        self.assertEqual(self.compare(y).state, "FAILED")
        self.assertTrue(self.compare(y, expect_math="f16"))

    def test_not_finite(self):
        self.arrays["x"][0, 0, 0, 0] = np.nan
        self.arrays["x"][1, 0, 0, 0] = np.inf
        y = reference.forward(*self.arrays.values(), None, self.problem)
        self.assertFalse(np.isfinite(y).all())
        self.assertTrue(self.compare(y), self.compare(y))
        self.assertEqual(self.compare(np.nan_to_num(y)).state, "FAILED")

    def test_refused(self):
        self.assertRaisesRegex(benchcnn.Error, "dx: conv FWD writes y", benchcnn.compare, self.problem, "cpu:direct",
                               self.arrays, {"dx": self.y})
        self.assertRaisesRegex(benchcnn.Error, "expect is empty", benchcnn.compare, self.problem, "cpu", self.arrays, {})


@unittest.skipUnless(IMPLS, "the implementation cpu is not built")
class Timing(unittest.TestCase):
    def test_times(self):
        times = benchcnn.bench("mb2ic8ih8oc8kh3ph1", "cpu:direct", min_time=0.05, max_time=0.5, warm_up=0.01)
        self.assertTrue(0 < times.least <= times.median and times.low <= times.median <= times.high, times)
        self.assertGreater(times.count, 2)
        taps = 3 * 8 - 2  # of an axis: those that fall inside
        self.assertEqual(times.flops, 2 * 2 * 8 * 8 * taps**2 + 2 * 8 * 8 * 8)  # and the bias
        self.assertAlmostEqual(times.gflops, times.flops / times.median * 1e-9)
        self.assertTrue(times.verdict.passed)
        times = benchcnn.bench("mb2ic8ih8oc8kh3ph1", "cpu:im2col", min_time=0.01, max_time=0.2, warm_up=0.01)
        self.assertGreater(times.workspace_bytes, 0)

    def test_refused(self):
        self.assertRaisesRegex(benchcnn.Error, "takes an implementation's name", benchcnn.bench, "mb1ic1ih4oc1kh1", len)


if __name__ == "__main__":
    unittest.main()
