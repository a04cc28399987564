#!/usr/bin/env python3
"""frameworks.py BENCHCNN: what docs/arrays.md says of PyTorch and of TensorFlow/Keras: their layers on random arrays,
held by `benchcnn compute` to the descriptors of the page. Each of them is asked where it can be imported; the formulae of
NumPy always are. Without NumPy: skipped (status 77)."""
import os
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy")
    sys.exit(77)

benchcnn, failures, asked = sys.argv[1], 0, 0
rng = np.random.default_rng(1)


def reals(*shape):
    return rng.standard_normal(shape).astype("f4")


def check(op, problem, direction, ins, expected, *options, status=0, says="PASSED"):
    """One run of the CPU's kernels, held to what is expected."""
    global failures, asked
    asked += 1
    with tempfile.TemporaryDirectory() as tmp:
        words = [benchcnn, "compute", "--impl", "cpu", "--op", op, "--problem", problem, "--dir", direction, *options]
        for name, array in ins.items():
            np.save(f"{tmp}/in_{name}.npy", np.ascontiguousarray(array))
            words += ["--in", f"{name}={tmp}/in_{name}.npy"]
        for name, array in expected.items():
            np.save(f"{tmp}/{name}.npy", np.ascontiguousarray(array))
        words += ["--expect", ",".join(f"{name}={tmp}/{name}.npy" for name in expected)]
        words += ["--out", ",".join(f"{name}={tmp}/out_{name}.npy" for name in expected)]
        run = subprocess.run(words, capture_output=True, text=True)
        if run.returncode == status and says in run.stdout + run.stderr:
            return
        failures += 1
        print(f"FAILED: {op} {problem} {direction}: status {run.returncode}, not {status}: "
              f"{(run.stdout + run.stderr)[:900]}")


def numpy_formulae():
    x, dy, labels = reals(5, 7), reals(5, 7), np.array([0, 6, 2, 3, 3])
    e = np.exp(x.astype("f8") - x.max(1, keepdims=True))
    y = e / e.sum(1, keepdims=True)
    zero, none = np.zeros(1), np.zeros(1, "i8")
    loss = -np.log(y[np.arange(5), labels]).sum()
    hits = (x.argmax(1) == labels).sum()
    for kind in "i4", "i8":
        check("loss", "mb5ic7", "FWD", dict(x=x, labels=labels.astype(kind), loss_sum=zero, correct=none),
              dict(y=y, loss_sum=loss.reshape(1), correct=np.array(hits)))
    check("loss", "mb5ic7", "BWD_D", dict(y=y, labels=labels), dict(dx=(y - np.eye(7)[labels]) / 5))
    a, b = reals(2, 3, 4, 5), reals(2, 3, 4, 5)
    check("add", "mb2ic3ih4iw5", "FWD", dict(x0=a, x1=b), dict(y=a.astype("f8") + b))
    check("concat", "3+2:mb2ih4iw5", "FWD", dict(x0=a, x1=b[:, :2]), dict(y=np.concatenate([a, b[:, :2]], 1)))
    check("concat", "1+2:mb2ih4iw5", "BWD_D", dict(dy=a), dict(dx0=a[:, :1], dx1=a[:, 1:]))
    check("dropout", "inference:mb2ic3ih4iw5", "FWD", dict(x=a, step=np.array(3)), dict(y=a))
    check("act", "relu:mb2ic3ih4iw5", "FWD", dict(x=a), dict(y=np.maximum(a, 0)), "--layout", "nhwc")
    check("act", "leaky_relu=0.1:mb2ic3ih4iw5", "BWD_D", dict(x=a, y=np.where(a > 0, a, np.float32(0.1) * a), dy=b),
          dict(dx=np.where(a > 0, 1, 0.1) * b))
    check("optimizer", "sgd,lr=0.5:ic7", "FWD", dict(w=x[0], grad=dy[0], step=np.array(4)),
          dict(w=x[0] - 0.5 * dy[0].astype("f8"), step=np.array([5])))
    check("fc", "mb5ic7oc4", "BWD_W", dict(x=x, dy=dy[:, :4]),
          dict(dw=dy[:, :4].astype("f8").T @ x, db=dy[:, :4].astype("f8").sum(0)))


def rounded(a, bits):
    """To so many significant bits."""
    m, e = np.frexp(a.astype("f8"))
    return np.ldexp(np.rint(np.ldexp(m, bits)), e - bits)


def arithmetic():
    """Long sums, whose bounds are loose, of factors with fewer bits; and what has no factors."""
    x, w = reals(16, 3000), reals(9, 3000)
    for math, bits, out in ("tf32", 11, 24), ("bf16", 8, 24), ("bf16", 8, 8), ("f16", 11, 11):
        y = rounded(rounded(x, bits) @ rounded(w, bits).T, out).astype("f4")
        for name, a, b in ("fc", x, w), ("conv", x.reshape(16, 3000, 1, 1), w.reshape(9, 3000, 1, 1)):
            problem = "mb16ic3000oc9" + ("ih1oh1kh1" if name == "conv" else "")
            check(name, problem, "FWD", dict(x=a, w=b), dict(y=y), status=1, says=f"was computed in {math}:")
            check(name, problem, "FWD", dict(x=a, w=b), dict(y=y), "--expect-math", math)
    exact = x.astype("f8") @ w.T.astype("f8")
    check("fc", "mb16ic3000oc9", "FWD", dict(x=x, w=w), dict(y=(x @ w.T).astype("f8")), status=1,
          says="was computed in f32: the file is f64")
    check("fc", "mb16ic3000oc9", "FWD", dict(x=x, w=w), dict(y=(x @ w.T).astype("f8")), "--expect-math", "f32")
    for wrong in exact * 1.001, exact + 1, np.where(np.arange(9) == 4, 0, exact):  # by no arithmetic
        check("fc", "mb16ic3000oc9", "FWD", dict(x=x, w=w), dict(y=wrong.astype("f4")), status=1, says="the expected")
    cut = [(a.view("u4") & 0xffffe000).view("f4").astype("f8") for a in (x, w)]  # tf32 by cutting bits off
    check("fc", "mb16ic3000oc9", "FWD", dict(x=x, w=w), dict(y=(cut[0] @ cut[1].T).astype("f4")), status=1,
          says="was computed in")
    small = rng.uniform(-3, 3, (2, 3, 8, 8)).astype("f2").astype("f4")
    sigmoid = (1 / (1 + np.exp(-small.astype("f8")))).astype("f2").astype("f4")
    check("act", "sigmoid:mb2ic3ih8", "FWD", dict(x=small), dict(y=sigmoid), status=1, says="was computed in f16:")
    check("act", "sigmoid:mb2ic3ih8", "FWD", dict(x=small), dict(y=sigmoid), "--expect-math", "f16")
    tiny = reals(16, 30) * np.float32(1e-6)  # f16 has few bits for them
    y = rounded(tiny.astype("f2").astype("f8") @ w[:, :30].astype("f2").astype("f8").T, 24).astype("f4")
    check("fc", "mb16ic30oc9", "FWD", dict(x=tiny, w=w[:, :30]), dict(y=y), "--expect-math", "f16")


def pytorch():
    import torch
    import torch.nn as nn
    torch.manual_seed(1)

    def layer(op, problem, m, x, weighted=False, extra={}):
        """Forward, and all gradients, of a layer with one input."""
        t = torch.from_numpy(x).requires_grad_()
        y = m(t)
        dy = torch.randn_like(y)
        y.backward(dy)
        n = {k: v.detach().numpy() for k, v in dict(x=t, y=y, dy=dy, dx=t.grad).items()}
        if not weighted:
            check(op, problem, "FWD", dict(x=n["x"]), dict(y=n["y"]))
            check(op, problem, "BWD_D", {k: n[k] for k in ("x", "y", "dy")}, dict(dx=n["dx"]))
            return
        w, b = m.weight.detach().numpy(), m.bias.detach().numpy()
        shape = extra.get("w", w.shape)
        check(op, problem, "FWD", dict(x=n["x"], w=w.reshape(shape), b=b), dict(y=n["y"]))
        check(op, problem, "BWD_D", dict(dy=n["dy"], w=w.reshape(shape)), dict(dx=n["dx"]))
        check(op, problem, "BWD_W", dict(x=n["x"], dy=n["dy"]),
              dict(dw=m.weight.grad.numpy().reshape(shape), db=m.bias.grad.numpy()))

    x = reals(2, 6, 11, 9)
    layer("conv", "g2mb2ic6ih11iw9oc4kh3kw2sh2sw1ph1pw2dh1dw0",
          nn.Conv2d(6, 4, (3, 2), stride=(2, 1), padding=(1, 2), dilation=(2, 1), groups=2), x, True)
    layer("conv", "mb2ic6ih11iw9oc4oh11ow9kh4kw3ph1pw1", nn.Conv2d(6, 4, (4, 3), padding="same"), x, True)
    layer("conv3d", "g2mb2ic4id5ih7iw6oc6kd3kh2kw3sd2sh1sw1pd1ph0pw1dd0dh1dw0",
          nn.Conv3d(4, 6, (3, 2, 3), stride=(2, 1, 1), padding=(1, 0, 1), dilation=(1, 2, 1), groups=2),
          reals(2, 4, 5, 7, 6), True)
    layer("deconv", "mb2ic6ih11iw9oc4oh24ow18kh5kw3sh2sw2ph1pw1",
          nn.ConvTranspose2d(6, 4, (5, 3), stride=2, padding=1, output_padding=(1, 1)), x, True)
    layer("deconv", "g2mb2ic6ih11iw9oc4kh3kw3sh2sw2ph1pw1dh1dw1",
          nn.ConvTranspose2d(6, 4, 3, stride=2, padding=1, dilation=2, groups=2), x, True)
    layer("fc", "mb2ic13oc4", nn.Linear(13, 4), reals(2, 13), True)

    class Flat(nn.Linear):
        def forward(self, t):
            return super().forward(t.flatten(1))

    layer("fc", "mb2ic6ih11iw9oc4", Flat(6 * 11 * 9, 4), x, True, dict(w=(4, 6, 11, 9)))
    layer("pool", "max:mb2ic6ih11iw9kh3kw2sh2sw2ph1pw0dh1dw0", nn.MaxPool2d((3, 2), 2, (1, 0), dilation=(2, 1)), x)
    layer("pool", "max:mb2ic6ih11iw9oh6ow5kh2kw2sh2sw2ph0pw0", nn.MaxPool2d(2, ceil_mode=True), x)
    layer("pool", "avg_pad:mb2ic6ih11iw9kh3kw3sh2sw2ph1pw1", nn.AvgPool2d(3, 2, 1), x)
    layer("pool", "avg:mb2ic6ih11iw9kh3kw3sh2sw2ph1pw1", nn.AvgPool2d(3, 2, 1, count_include_pad=False), x)
    layer("pool", "global_avg:mb2ic6ih11iw9", nn.AdaptiveAvgPool2d(1), x)
    for kind, m in (("relu", nn.ReLU()), ("leaky_relu=0.2", nn.LeakyReLU(0.2)), ("clipped_relu=6", nn.ReLU6()),
                    ("elu=0.7", nn.ELU(0.7)), ("sigmoid", nn.Sigmoid()), ("tanh", nn.Tanh()),
                    ("identity", nn.Identity())):
        layer("act", f"{kind}:mb2ic6ih11iw9", m, x * 4)

    # Batch norm: the running statistics before and after; the variance that is kept is the unbiased one.
    m = nn.BatchNorm2d(6, eps=1e-3, momentum=0.3)
    nn.init.uniform_(m.weight), nn.init.uniform_(m.bias)
    mean, var = m.running_mean.clone().numpy(), m.running_var.clone().numpy()
    t = torch.from_numpy(x).requires_grad_()
    y = m(t)
    dy = torch.randn_like(y)
    y.backward(dy)
    gamma, beta = m.weight.detach().numpy(), m.bias.detach().numpy()
    saved = x.mean((0, 2, 3)), (1 / np.sqrt(x.astype("f8").var((0, 2, 3)) + 1e-3)).astype("f4")
    check("batchnorm", "eps=0.001,momentum=0.3:mb2ic6ih11iw9", "FWD",
          dict(x=x, gamma=gamma, beta=beta, running_mean=mean, running_var=var),
          dict(y=y.detach().numpy(), running_mean=m.running_mean.numpy(), running_var=m.running_var.numpy(),
               save_mean=saved[0], save_invstd=saved[1]))
    check("batchnorm", "eps=0.001,momentum=0.3:mb2ic6ih11iw9", "BWD_D",
          dict(x=x, gamma=gamma, save_mean=saved[0], save_invstd=saved[1], dy=dy.numpy()),
          dict(dx=t.grad.numpy(), dgamma=m.weight.grad.numpy(), dbeta=m.bias.grad.numpy()))
    m.eval()
    check("batchnorm", "inference,eps=0.001:mb2ic6ih11iw9", "FWD",
          dict(x=x, gamma=gamma, beta=beta, running_mean=m.running_mean.numpy(), running_var=m.running_var.numpy()),
          dict(y=m(torch.from_numpy(x)).detach().numpy()))

    # Cross-entropy of logits: the loss is a sum here, the gradient that of the mean.
    logits, labels = torch.from_numpy(reals(5, 7)).requires_grad_(), np.array([0, 6, 2, 3, 3])
    total = nn.CrossEntropyLoss(reduction="sum")(logits, torch.from_numpy(labels)).item()
    soft = logits.softmax(1).detach().numpy()
    check("loss", "mb5ic7", "FWD", dict(x=logits.detach().numpy(), labels=labels, loss_sum=np.zeros(1),
                                        correct=np.zeros(1, "i8")), dict(y=soft, loss_sum=np.float32([total])))
    # PyTorch's f32 gradient starts from the exponential of a logarithm, not from y: in f64 that makes no difference.
    precise = logits.detach().double().requires_grad_()
    nn.CrossEntropyLoss()(precise, torch.from_numpy(labels)).backward()
    check("loss", "mb5ic7", "BWD_D", dict(y=precise.softmax(1).detach().numpy().astype("f4"), labels=labels),
          dict(dx=precise.grad.numpy().astype("f4")))

    # Optimizers: the third update, from the state that two have left.
    def third(problem, make, states):
        p = torch.nn.Parameter(torch.from_numpy(reals(40)))
        o = make([p])
        for step in range(3):
            p.grad = torch.from_numpy(reals(40))
            now = dict(w=p.detach().numpy().copy(), grad=p.grad.numpy())
            if step == 2:
                now |= {f"state{i}": s(o.state[p]).numpy().copy() for i, s in enumerate(states)}
            o.step()
        after = dict(w=p.detach().numpy()) | {f"state{i}": s(o.state[p]).numpy() for i, s in enumerate(states)}
        check("optimizer", problem, "FWD", now | dict(step=np.array(2)), after)

    third("sgd,lr=0.1,l2=0.01:ic40", lambda p: torch.optim.SGD(p, 0.1, weight_decay=0.01), [])
    third("momentum,lr=0.1,beta1=0.9:ic40", lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
          [lambda s: -0.1 * s["momentum_buffer"]])
    third("adagrad,lr=0.1,eps=1e-10:ic40", lambda p: torch.optim.Adagrad(p, 0.1), [lambda s: s["sum"]])
    third("rmsprop,lr=0.1,beta2=0.99,eps=1e-8:ic40", lambda p: torch.optim.RMSprop(p, 0.1),
          [lambda s: s["square_avg"]])
    third("adam,lr=0.1,l2=0.01:ic40", lambda p: torch.optim.Adam(p, 0.1, weight_decay=0.01),
          [lambda s: s["exp_avg"], lambda s: s["exp_avg_sq"]])


def tensorflow():
    import tensorflow as tf
    keras = tf.keras
    chw, hwc = (0, 3, 1, 2), (0, 2, 3, 1)  # an array of NHWC as NCHW, and back

    def layer(op, problem, m, x, kernel=None):
        """x as NCHW; kernel: how Keras's weights become those here."""
        t = tf.Variable(x.transpose(hwc) if x.ndim == 4 else x)
        with tf.GradientTape() as tape:
            y = m(t)
        if kernel is not None:
            for k, v in zip(m.trainable_variables, (m.get_weights()[0], reals(*m.get_weights()[1].shape))):
                k.assign(v)
        with tf.GradientTape() as tape:
            y = m(t)
        dy = reals(*y.shape)
        grads = tape.gradient(y, [t] + m.trainable_variables, tf.constant(dy))
        turn = lambda a: np.asarray(a).transpose(chw) if np.ndim(a) == 4 else np.asarray(a)
        n = dict(x=x, y=turn(y), dy=turn(dy), dx=turn(grads[0]))
        if kernel is None:
            check(op, problem, "FWD", dict(x=x), dict(y=n["y"]))
            check(op, problem, "BWD_D", {k: n[k] for k in ("x", "y", "dy")}, dict(dx=n["dx"]))
            return
        w, b = m.get_weights()
        check(op, problem, "FWD", dict(x=x, w=kernel(w), b=b), dict(y=n["y"]))
        check(op, problem, "BWD_D", dict(dy=n["dy"], w=kernel(w)), dict(dx=n["dx"]))
        check(op, problem, "BWD_W", dict(x=x, dy=n["dy"]), dict(dw=kernel(np.asarray(grads[1])), db=np.asarray(grads[2])))

    L, x = keras.layers, reals(2, 6, 11, 9)
    oihw = lambda w: w.transpose(3, 2, 0, 1)
    # SAME: oh = ceil(ih/s), ph the smaller half of the padding.
    layer("conv", "mb2ic6ih11iw9oc4oh6ow5kh4kw3sh2sw2ph1pw1", L.Conv2D(4, (4, 3), 2, "same"), x, oihw)
    layer("conv", "mb2ic6ih11iw9oc4kh3kw2dh1dw1", L.Conv2D(4, (3, 2), dilation_rate=2), x, oihw)
    layer("conv", "g6mb2ic6ih11iw9oc12oh11ow9kh3kw3ph1pw1", L.DepthwiseConv2D(3, padding="same", depth_multiplier=2), x,
          lambda w: w.transpose(2, 3, 0, 1).reshape(12, 1, 3, 3))
    layer("deconv", "mb2ic6ih11iw9oc4oh22ow18kh5kw3sh2sw2ph1pw0", L.Conv2DTranspose(4, (5, 3), 2, "same"), x, oihw)
    layer("deconv", "mb2ic6ih11iw9oc4kh3kw3sh2sw2", L.Conv2DTranspose(4, 3, 2), x, oihw)
    layer("fc", "mb2ic13oc4", L.Dense(4), reals(2, 13), lambda w: w.T)
    layer("fc", "mb2ic6ih11iw9oc4", keras.Sequential([L.Flatten(), L.Dense(4)]), x,
          lambda w: w.reshape(11, 9, 6, 4).transpose(3, 2, 0, 1))
    layer("pool", "max:mb2ic6ih11iw9oh6ow5kh3kw2sh2sw2ph1pw0", L.MaxPool2D((3, 2), 2, "same"), x)
    layer("pool", "avg:mb2ic6ih11iw9oh6ow5kh3kw3sh2sw2ph1pw1", L.AveragePooling2D(3, 2, "same"), x)
    layer("pool", "global_avg:mb2ic6ih11iw9", L.GlobalAveragePooling2D(keepdims=True), x)
    layer("act", "leaky_relu=0.3:mb2ic6ih11iw9", L.LeakyReLU(), x)
    layer("act", "clipped_relu=6:mb2ic6ih11iw9", L.ReLU(max_value=6), x * 4)

    m = L.BatchNormalization(momentum=0.7)
    m.build((None, 11, 9, 6))
    gamma, beta, mean, var = m.get_weights()
    y = np.asarray(m(x.transpose(hwc), training=True)).transpose(chw)
    check("batchnorm", "eps=0.001,momentum=0.3:mb2ic6ih11iw9", "FWD",
          dict(x=x, gamma=gamma, beta=beta, running_mean=mean, running_var=var),
          dict(y=y, running_mean=m.get_weights()[2]))
    n = x.size / 6
    kept = m.get_weights()[3].astype("f8")  # Keras keeps the biased variance
    check("batchnorm", "eps=0.001,momentum=0.3:mb2ic6ih11iw9", "FWD",
          dict(x=x, gamma=gamma, beta=beta, running_mean=mean, running_var=var),
          dict(running_var=0.7 * var + (kept - 0.7 * var) * n / (n - 1)), "--rtol", "1e-6")

    # Adam: Keras adds epsilon before it corrects the second moment: eps here is its epsilon / sqrt(1 - beta2^t).
    w, o = tf.Variable(reals(40)), keras.optimizers.Adam(0.1)
    before, grad = w.numpy(), reals(40)
    o.apply_gradients([(tf.constant(grad), w)])
    check("optimizer", f"adam,lr=0.1,eps={1e-7 / np.sqrt(1 - 0.999):.17g}:ic40", "FWD",
          dict(w=before, grad=grad, state0=np.zeros(40, "f4"), state1=np.zeros(40, "f4"), step=np.array(0)),
          dict(w=w.numpy()), "--rtol", "1e-4", "--atol", "1e-6")  # it computes 1 - beta2^t in f32


numpy_formulae()
arithmetic()
for framework in pytorch, tensorflow:
    before = asked
    try:
        framework()
        print(f"{framework.__name__}: {asked - before} asked")
    except ImportError:
        print(f"{framework.__name__}: not here")
print(f"{asked} asked, {failures} failed")
sys.exit(failures > 0)
