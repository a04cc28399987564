"""What a callable may do wrong, and what may not be asked: each in words, and Python lives."""

import ctypes
import gc
import os
import signal
import threading
import unittest
import weakref

import numpy

import benchcnn
import reference

PROBLEM = "mb2ic3ih8oc5kh3ph1"


def right(x, w, problem):
    return reference.forward(x, w, None, problem)


class Callables(unittest.TestCase):
    def said(self, function, words, **options):
        verdict = benchcnn.verify(function, PROBLEM, **options)
        self.assertEqual(verdict.state, "FAILED", verdict)
        self.assertIn(words, str(verdict))
        return verdict

    def test_exception(self):
        def broken(x, w):
            raise ValueError("no such luck")

        verdict = self.said(broken, "ValueError: no such luck (")
        self.assertIn("test_faults.py, line ", verdict.reason)
        self.assertIsInstance(verdict.exception, ValueError)
        self.assertEqual(verdict.exception.__traceback__.tb_next.tb_next.tb_frame.f_code.co_name, "broken")
        self.assertEqual(str(verdict).count("no such luck"), 1)
        self.said(lambda x, w: exit(3), "SystemExit: 3")
        self.said(lambda x, w: "ä" * 500 + str(1 / 0), "ZeroDivisionError")

    def test_results(self):
        self.said(lambda x, w: x, "y came back with the shape (2, 3, 8, 8), but of this problem it is (2, 5, 8, 8)")
        self.said(lambda x, w: None, "it returned no y, and has no parameter y that it could fill")
        self.said(lambda x, w: {"dx": x}, "it returned dx, but writes y")
        self.said(lambda x, w: (x, w), "it returned 2 arrays, but writes y")
        self.said(lambda x, w: numpy.zeros((2, 5, 8, 8), complex), "y came back as complex128")
        self.said(lambda x, w: [["a"]], "y came back with the shape")
        self.said(lambda x, w, y: None, "y unwritten")
        self.said(lambda x, foo: x, "it has a parameter foo, which this problem has no value for")

    def test_memory(self):
        def changes(x, w, problem):
            x[0, 0, 0, 0] += 1
            return right(x, w, problem)

        def writes_past(x, w, problem, y):
            y[...] = right(x, w, problem)
            ctypes.memset(y.ctypes.data + y.nbytes, 0, 4)

        def writes_before(x, w, problem):
            ctypes.memset(w.ctypes.data - 8, 0, 4)
            return right(x, w, problem)

        self.said(changes, "changed its input x at byte 0", checks="memory")
        self.said(writes_past, "wrote past y: 4 bytes beyond its end are changed, at +0 to +3")
        self.said(writes_before, "wrote before w: 4 bytes before its start are changed, at -8 to -5")

    def test_supports_raises(self):
        verdict = benchcnn.verify(right, PROBLEM, supports=lambda p: p.nothing)
        self.assertEqual(verdict.state, "UNSUPPORTED")
        self.assertIn("its supports raised AttributeError: a problem of conv has no nothing", verdict.reason)
        self.assertIsInstance(verdict.exception, AttributeError)


class Lifetime(unittest.TestCase):
    def test_kept_arrays(self):
        kept = []

        def keeps(x, w, problem, y):
            y[...] = right(x, w, problem)
            if len(kept) < 50:  # more would be what it is: a leak
                kept.extend((x, w, y, x[0], y.T))

        self.assertTrue(benchcnn.verify(keeps, PROBLEM))
        gc.collect()
        self.assertEqual(len(kept), 50)
        noise = [numpy.ones(1000) for _ in range(100)]
        for array in kept:
            array += 1
        self.assertTrue(all(numpy.isfinite(a).all() for a in kept), len(noise))

    @unittest.skipIf("asan" in os.environ.get("LD_PRELOAD", ""), "the sanitizer's memory is not counted")
    def test_leak(self):
        kept = []

        def keeps(x, w, problem):
            kept.append(numpy.ones(1 << 17))
            return right(x, w, problem)

        self.assertIn("every call keeps memory", str(benchcnn.verify(keeps, PROBLEM)))

    def test_freed(self):
        class Kernel:
            def __call__(self, x, w, problem):
                return right(x, w, problem)

        kernel = Kernel()
        watched = weakref.ref(kernel)
        verdict = benchcnn.verify(kernel, PROBLEM)
        self.assertTrue(verdict)
        self.assertIn("Kernel", str(verdict))
        del kernel
        gc.collect()
        self.assertIsNone(watched())
        problem = verdict.problem
        del verdict
        gc.collect()
        self.assertEqual((problem.kh, problem.arrays[0].shape), (3, (2, 3, 8, 8)))

    def test_again_and_again(self):
        for _ in range(20):
            self.assertTrue(benchcnn.verify(right, "mb1ic1ih3oc1kh2", checks="exact"))
            gc.collect()


class Interrupts(unittest.TestCase):
    def test_raised(self):
        def interrupted(x, w):
            raise KeyboardInterrupt

        self.assertRaises(KeyboardInterrupt, benchcnn.verify, interrupted, PROBLEM)
        self.assertTrue(benchcnn.verify(right, PROBLEM))  # and the next one goes on as ever

    def test_signal(self):
        calls = []

        def slow(x, w, problem):
            calls.append(1)
            if len(calls) == 3:
                os.kill(os.getpid(), signal.SIGINT)
            return right(x, w, problem)

        self.assertRaises(KeyboardInterrupt, benchcnn.verify, slow, PROBLEM)
        self.assertLess(len(calls), 6)

    def test_one_at_a_time(self):
        said = []

        def nested(x, w, problem):
            try:
                benchcnn.verify(right, PROBLEM)
            except benchcnn.Error as error:
                said.append(str(error))
            return benchcnn.conv(x, w, padding=1)  # computing is no verification

        self.assertTrue(benchcnn.verify(nested, PROBLEM))
        self.assertIn("another verification is going on", said[0])

    def test_other_threads(self):
        verdicts = []
        thread = threading.Thread(target=lambda: verdicts.append(benchcnn.verify(right, PROBLEM)))
        thread.start()
        thread.join()
        self.assertTrue(verdicts[0])


class Asked(unittest.TestCase):
    def refused(self, words, *arguments, **options):
        with self.assertRaises(benchcnn.Error) as caught:
            benchcnn.verify(*arguments, **options)
        self.assertIn(words, str(caught.exception))

    def test_words(self):
        self.refused("bad descriptor", right, "mb2ic3ihxoc5kh3")
        self.refused("unknown op", right, PROBLEM, op="convolve")
        self.refused("unknown dir", right, PROBLEM, dir="BACK")
        self.refused("unknown dtype", right, PROBLEM, dtype="f8")
        self.refused("unknown check", right, PROBLEM, checks="exakt")
        self.refused("has no direction BWD_W", right, "max:mb1ic1ih4kh2", op="pool", dir="BWD_W")
        self.refused("fn is 7; it is a callable", 7, PROBLEM)
        self.refused("text is 7", right, [7])
        self.refused("there is no problem", right, [])
        self.refused("threads is 0", right, PROBLEM, threads=0)
        self.refused("amplification is 0.5", right, PROBLEM, amplification=0.5)
        self.refused("did you mean 'cpu'", "cpuu:direct", PROBLEM)
        self.refused("is not of the form NAME", "", PROBLEM)
        self.refused("no algorithm nothing", "cpu:nothing", PROBLEM)
        self.refused("differ in more than their sizes", right,
                     [benchcnn.Problem(PROBLEM), benchcnn.Problem(PROBLEM, dtype="f64")])


if __name__ == "__main__":
    unittest.main()
