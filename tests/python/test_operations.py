"""benchcnn.verify on every other operation: a right callable each, and one that is wrong."""

import unittest

import numpy as np

import benchcnn


def windows(x, problem, fill):
    """All taps of each output, (n, c, oh, ow, taps), the padding filled."""
    p = problem
    rows = max(p.ph + p.ih, (p.oh - 1) * p.sh + (p.kh - 1) * (p.dh + 1) + 1)
    columns = max(p.pw + p.iw, (p.ow - 1) * p.sw + (p.kw - 1) * (p.dw + 1) + 1)
    padded = np.full(x.shape[:2] + (rows, columns), fill, x.dtype)
    padded[:, :, p.ph:p.ph + p.ih, p.pw:p.pw + p.iw] = x
    taps = [padded[:, :, i * (p.dh + 1):, j * (p.dw + 1):][:, :, :(p.oh - 1) * p.sh + 1:p.sh, :(p.ow - 1) * p.sw + 1:p.sw]
            for i in range(p.kh) for j in range(p.kw)]
    return np.stack(taps, axis=-1)


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def as_labels(labels, y):
    return np.eye(y.shape[1], dtype=y.dtype)[labels.reshape(-1)].reshape(y.shape)


class Operations(unittest.TestCase):
    def both(self, function, wrong, problem, **options):
        """The one is PASSED, the other FAILED."""
        verdict = benchcnn.verify(function, problem, **options)
        self.assertTrue(verdict, verdict)
        self.assertEqual(benchcnn.verify(wrong, problem, **options).state, "FAILED")

    def test_fc(self):
        def fc(x, w, b):
            return np.einsum("nchw,kchw->nk", x, w)[:, :, None, None].reshape(x.shape[0], -1) + b

        shapes = {a.name: a.shape for a in benchcnn.Problem("mb3ic4ih2oc5", op="fc").arrays}
        self.assertEqual(shapes["w"], (5, 4, 2, 2))

        def shaped(x, w, b):
            return fc(x, w, b).reshape(shapes["y"])

        self.both(shaped, lambda x, w, b: shaped(x, w, 0 * b), "mb3ic4ih2oc5", op="fc")

    def test_pool(self):
        def largest(x, problem):
            return windows(x, problem, -np.inf).max(axis=-1)

        def average(x, problem):
            return windows(x, problem, 0).mean(axis=-1, dtype=x.dtype)

        self.both(largest, average, "max:mb2ic3ih7kh3sh2ph1", op="pool")
        self.both(average, largest, "avg_pad:mb2ic3ih7kh3sh2ph1", op="pool", dtype="f64")

    def test_act(self):
        self.both(lambda x, problem: np.where(x > 0, x, x.dtype.type(0.1) * x), lambda x: np.maximum(x, 0),
                  "leaky_relu=0.1:mb2ic3ih4", op="act")
        # After a forward in place there is no x: what a ReLU's derivative is can be told from y.
        self.both(lambda y, dy: np.where(y > 0, dy, 0), lambda y, dy: dy, "relu:mb2ic3ih4", op="act", dir="BWD_D")

    def test_joins(self):
        self.both(lambda x0, x1: x0 + x1, lambda x0, x1: x0 - x1, "mb2ic3ih4", op="add")
        self.both(lambda **x: np.concatenate([x["x0"], x["x1"], x["x2"]], axis=1), lambda x0, x1, x2:
                  np.concatenate([x1, x0, x2], axis=1), "2+2+3:mb2ih4", op="concat")
        self.both(lambda dy: (dy[:, :2], dy[:, 2:4], dy[:, 4:]), lambda dy: (dy[:, 2:4], dy[:, :2], dy[:, 4:]),
                  "2+2+3:mb2ih4", op="concat", dir="BWD_D")

    def test_batchnorm(self):
        def infer(x, gamma, beta, running_mean, running_var, eps):
            scale = gamma / np.sqrt(running_var + x.dtype.type(eps))
            return (x - running_mean[:, None, None]) * scale[:, None, None] + beta[:, None, None]

        def train(x, gamma, beta, running_mean, running_var, y, eps, momentum):
            mean = x.mean(axis=(0, 2, 3), dtype=np.float64)
            var = x.var(axis=(0, 2, 3), dtype=np.float64)
            count = x.size // x.shape[1]
            running_mean += momentum * (mean - running_mean)
            running_var += momentum * (var * count / (count - 1) - running_var)
            invstd = 1 / np.sqrt(var + eps)
            y[...] = (x - mean[:, None, None]) * (gamma * invstd)[:, None, None] + beta[:, None, None]
            return {"save_mean": mean, "save_invstd": invstd}

        def biased(x, gamma, beta, running_mean, running_var, y, eps, momentum):
            kept = running_var.copy()
            result = train(x, gamma, beta, running_mean, running_var, y, eps, momentum)
            running_var[...] = kept + momentum * (x.var(axis=(0, 2, 3)) - kept)
            return result

        self.both(infer, lambda x, gamma, beta: x, "inference:mb2ic3ih4", op="batchnorm")
        self.both(train, biased, "mb2ic3ih4", op="batchnorm", dtype="f64")

    def test_loss(self):
        def forward(x, labels, loss_sum, correct):
            y = softmax(x.astype(np.float64))
            at = y.reshape(y.shape[0], -1)[np.arange(len(y)), labels.reshape(-1)]
            loss_sum += -np.log(at).sum()
            correct += (y.reshape(len(y), -1).argmax(axis=1) == labels.reshape(-1)).sum()
            return {"y": y}

        def backward(y, labels):
            return y - as_labels(labels, y)

        def scaled(y, labels, scale):
            return (y - as_labels(labels, y)) * y.dtype.type(scale)

        self.both(forward, lambda x, labels, loss_sum, correct: {"y": softmax(x)}, "mb4ic10", op="loss")
        self.both(backward, lambda y, labels: y, "mb4ic10", op="loss", dir="BWD_D")
        self.both(scaled, lambda y, labels, scale: y - as_labels(labels, y), "mb4ic10", op="loss", dir="BWD_D")

    def test_loss_scale(self):
        def scaled(y, labels, loss_scale):
            return ((y - as_labels(labels, y)) * loss_scale).astype(np.float16)

        self.both(scaled, lambda y, labels, loss_scale: (y - as_labels(labels, y)).astype(np.float16), "mb4ic10", op="loss",
                  dir="BWD_D", dtype="f16")

    def test_dropout(self):
        self.both(lambda x: x, lambda x: x / 2, "inference:mb2ic3ih4", op="dropout")

    def test_optimizer(self):
        def sgd(w, grad, step, lr):
            step += 1
            return {"w": w - w.dtype.type(lr) * grad}

        def forgets(w, grad, step, lr):
            return {"w": w - w.dtype.type(lr) * grad}

        self.both(sgd, forgets, "sgd,lr=0.125:ic100", op="optimizer")

    def test_optimizer_of_16_bits(self):
        def sgd(w, grad, step, copy, scaling, lr, late=False):
            kept = np.isfinite(grad).all()
            scaling[1] = scaling[1] + 1 if kept else 0
            scaling[2] += not kept
            if not kept:
                return {"w": w, "copy": copy}
            step += 1
            moved = w - w.dtype.type(lr) * (grad / w.dtype.type(scaling[0]))
            return {"w": moved, "copy": (w if late else moved).astype(np.float16)}

        def late(w, grad, step, copy, scaling, lr):
            return sgd(w, grad, step, copy, scaling, lr, True)

        self.both(sgd, late, "sgd,lr=0.125:ic100", op="optimizer", dtype="f16")


if __name__ == "__main__":
    unittest.main()
