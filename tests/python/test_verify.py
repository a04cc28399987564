"""benchcnn.verify on convolutions: right ones, wrong ones, each direction, both types, both layouts."""

import unittest

import numpy

import benchcnn
import reference

PROBLEMS = ["mb2ic3ih8oc5kh3ph1", "g2mb2ic4ih9iw7oc6kh3kw2sh2sw1ph1pw0", "mb1ic3ih11oc2kh3dh1ph2", "g3mb2ic3ih6oc3kh3ph1"]


def right(x, w, b, problem):
    return reference.forward(x, w, b, problem)


class Forward(unittest.TestCase):
    def test_right(self):
        for dtype in "f32", "f64":
            verdicts = benchcnn.verify(right, PROBLEMS, dtype=dtype)
            self.assertTrue(verdicts.passed, verdicts)
            self.assertEqual([v.problem.dtype for v in verdicts], [dtype] * len(PROBLEMS))
            self.assertTrue(all(v.problem.bias for v in verdicts))
            self.assertIn("4 PASSED", str(verdicts))
        checks = [r.check for r in verdicts[0].results if r.state == "PASSED"]
        self.assertEqual(checks, ["exact", "bound", "precision", "memory", "determinism"])

    def test_fills(self):
        def fills(y, x, w, problem):
            y[...] = reference.forward(x, w, None, problem)

        verdict = benchcnn.verify(fills, PROBLEMS[1])
        self.assertTrue(verdict, verdict)
        self.assertFalse(verdict.problem.bias)  # it has no parameter b

    def test_sizes_and_any(self):
        def sizes(x, w, sh, *, sw, ph=99, **arrays):
            self.assertEqual((sh, sw, ph), (2, 1, 1))
            self.assertEqual(sorted(arrays), ["b"])
            return reference.forward(x, w, arrays["b"], problem)

        problem = benchcnn.Problem(PROBLEMS[1])
        self.assertTrue(benchcnn.verify(sizes, problem, raises=True))

    def test_off_by_one(self):
        def shifted(x, w, b, problem):
            y = reference.forward(x, w, b, problem)
            y[:, :, :, -1] = y[:, :, :, -2]
            return y

        verdict = benchcnn.verify(shifted, PROBLEMS[0])
        self.assertEqual(verdict.state, "FAILED")
        self.assertIn("y[n=0,c=0,h=0,w=7]: expected", verdict.place)
        self.assertIn("errors only at w = 7, the last of 8", str(verdict))
        self.assertNotIn("precision FAILED", str(verdict))
        arrays = verdict.arrays
        wrong = numpy.argwhere(arrays["y_expected"] != arrays["y_got"])
        self.assertEqual(set(wrong[:, 3]), {7})
        p = verdict.problem
        again = reference.forward(arrays["x"], arrays["w"], arrays["b"], p)
        self.assertTrue(numpy.array_equal(again, arrays["y_expected"]))
        with self.assertRaises(benchcnn.VerificationFailed) as caught:
            benchcnn.verify(shifted, [PROBLEMS[0], "mb1ic1ih4oc1kh1"], raises=True)
        self.assertIn("2 FAILED", str(caught.exception))

    def test_half_precision(self):
        def halves(x, w, problem):
            return reference.forward(x.astype("f2").astype("f4"), w.astype("f2").astype("f4"), None, problem)

        verdict = benchcnn.verify(halves, PROBLEMS[0])
        self.assertIn("says f32, computes", " ".join(r.reason for r in verdict.failed))

    def test_types_of_16_bits(self):
        def sums_in_f32(x, w, b, problem):
            return reference.forward(x.astype("f4"), w.astype("f4"), b.astype("f4"), problem).astype("f2")

        def sums_in_f16(x, w, b, problem):
            return reference.forward(x, w, b, problem)

        def bf16(x, w, problem):  # NumPy has no bf16: arrays hold its bits
            wide = [(a.astype("u4") << 16).view("f4") for a in (x, w)]
            bits = numpy.ascontiguousarray(reference.forward(*wide, None, problem)).view("u4")
            return (bits + 0x7fff + (bits >> 16 & 1) >> 16).astype("u2")

        self.assertTrue(benchcnn.verify(sums_in_f32, PROBLEMS, dtype="f16").passed)
        self.assertTrue(benchcnn.verify(bf16, PROBLEMS, dtype="bf16").passed)
        verdict = benchcnn.verify(sums_in_f16, PROBLEMS[0], dtype="f16")
        self.assertIn("kept in f16: keep them in f32", " ".join(r.reason for r in verdict.failed))

    def test_integers(self):
        def right(x, w, b, problem):
            return (reference.forward(x.astype("f8"), w.astype("f8"), b.astype("f8"), problem)).astype("i4")

        def signed(x, w, b, problem):
            return right(x.astype("i1"), w, b, problem)

        self.assertTrue(benchcnn.verify(right, PROBLEMS, dtype="u8:s8:s32").passed)
        verdict = benchcnn.verify(signed, PROBLEMS[0], dtype="u8:s8:s32")
        self.assertIn("what comes of x read as s8", " ".join(r.reason for r in verdict.failed))

    def test_quantized(self):
        def sums(x, w, b, problem):
            return reference.forward(x.astype("f8") - problem.zx, w.astype("f8"), b.astype("f8"), problem)

        def right(x, w, b, scale, problem):
            nearest = numpy.rint(sums(x, w, b, problem) * scale.astype("f8")[:, None, None]) + problem.zy
            return numpy.clip(nearest, 0, 255).astype("u1")

        def wraps(x, w, b, scale, problem):
            nearest = numpy.rint(sums(x, w, b, problem) * scale.astype("f8")[:, None, None]) + problem.zy
            return nearest.astype("i8").astype("u1")

        problems = [p + "zx7zy100soc1" for p in PROBLEMS]
        self.assertTrue(benchcnn.verify(right, problems + PROBLEMS, dtype="u8:s8:u8").passed)
        verdict = benchcnn.verify(wraps, problems[0], dtype="u8:s8:u8")
        self.assertIn("results beyond the range wrap", " ".join(r.reason for r in verdict.failed))

    def test_epilogue(self):
        def right(x, w, b, z, problem):
            return numpy.maximum(reference.forward(x, w, b, problem) + z, 0)

        def late(x, w, b, z, problem):
            return numpy.maximum(reference.forward(x, w, b, problem), 0) + z

        problems = ["add+relu:" + p for p in PROBLEMS]
        self.assertTrue(benchcnn.verify(right, problems).passed)
        verdict = benchcnn.verify(late, problems[0])
        self.assertIn("z is added behind the activation", " ".join(r.reason for r in verdict.failed))

    def test_wrong_every_fifth_call(self):
        calls = []

        def sometimes(x, w, problem):
            calls.append(1)
            return reference.forward(x, w, None, problem) + (len(calls) % 5 == 0)

        self.assertEqual(benchcnn.verify(sometimes, PROBLEMS[0], deterministic=True).state, "FAILED")

    def test_nhwc(self):
        def last(x, w, problem):
            self.assertEqual(x.shape, (2, 8, 8, 3))
            return reference.forward(x.transpose(0, 3, 1, 2), w, None, problem).transpose(0, 2, 3, 1)

        verdict = benchcnn.verify(last, PROBLEMS[0], layout="nhwc")
        self.assertTrue(verdict, verdict)

    def test_flip_and_checks(self):
        def flipped(x, w, problem):
            return reference.forward(x, w[:, :, ::-1, ::-1], None, problem)

        verdict = benchcnn.verify(flipped, PROBLEMS[0], flip=True, checks=["exact", "memory"])
        self.assertEqual([r.check for r in verdict.results], ["exact", "memory"])
        self.assertTrue(verdict, verdict)
        self.assertFalse(benchcnn.verify(flipped, PROBLEMS[0]))


class Backward(unittest.TestCase):
    def test_data(self):
        def data(dy, w, problem):
            return reference.backward_data(dy, w, problem)

        verdicts = benchcnn.verify(data, PROBLEMS, dir="BWD_D")
        self.assertTrue(verdicts.passed, verdicts)

    def test_weights(self):
        def both(x, dy, problem, db=None):
            return reference.backward_weights(x, dy, problem)

        def one(x, dy, problem):
            return {"dw": reference.backward_weights(x, dy, problem)[0]}

        for function in both, one:
            verdicts = benchcnn.verify(function, PROBLEMS, dir="BWD_W", dtype="f64")
            self.assertTrue(verdicts.passed, verdicts)
            self.assertEqual(verdicts[0].problem.bias, function is both)

    def test_transposed(self):
        def transposed(x, w, problem):  # what a convolution's backward is, by its descriptor the other way round
            p = problem
            plain = benchcnn.Problem(f"mb{p.mb}ic{p.oc}ih{p.oh}oc{p.ic}kh{p.kh}sh{p.sh}ph{p.ph}oh{p.ih}")
            return reference.backward_data(x, w, plain)

        verdict = benchcnn.verify(transposed, "mb2ic4ih5oc3kh4sh2ph1", op="deconv")
        self.assertTrue(verdict, verdict)


class Which(unittest.TestCase):
    def test_supports(self):
        verdicts = benchcnn.verify(right, PROBLEMS, supports=lambda p: p.g == 1 or f"{p.g} groups are too many")
        self.assertEqual([v.state for v in verdicts], ["PASSED", "UNSUPPORTED", "PASSED", "UNSUPPORTED"])
        self.assertEqual(verdicts[1].reason, "2 groups are too many")
        self.assertTrue(verdicts.passed)
        self.assertFalse(benchcnn.verify(right, PROBLEMS[:1], supports=lambda p: False).passed)

    def test_default_problems(self):
        texts = benchcnn.default_problems()
        self.assertGreater(len(texts), 5)
        small = benchcnn.verify(right, supports=lambda p: p.mb * p.ic * p.oc * p.oh * p.ow < 20000)
        self.assertTrue(small.passed, small)
        self.assertGreater(sum(v.passed for v in small), 2)

    def test_by_name(self):
        for name in benchcnn.implementations():
            if name == "cpu":
                verdict = benchcnn.verify("cpu:direct", PROBLEMS[0], raises=True)
                self.assertEqual(verdict.name, "cpu:direct")
        self.assertEqual(benchcnn.verify("cpu:direct", PROBLEMS[0], math="tf32").state, "UNSUPPORTED")


if __name__ == "__main__":
    unittest.main()
