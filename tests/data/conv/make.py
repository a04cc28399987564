#!/usr/bin/env python3
"""Makes the arrays beside this file: a convolution, its gradients and their inputs, computed by NumPy alone in float64,
one tap after the other, as in the definition. tests/cli/test_compute.sh feeds them to `benchcnn compute`.

    g2mb2ic4ih7iw6oc6oh4ow4kh3kw2sh2sw1ph1pw1dh0dw2
"""
import os
import numpy as np

g, mb, ic, ih, iw, oc, kh, kw = 2, 2, 4, 7, 6, 6, 3, 2
sh, sw, ph, pw, dh, dw = 2, 1, 1, 1, 1, 3  # dh, dw: the spacing of taps (the descriptor's plus 1)
oh, ow = 4, 4                              # the last padded column is not read

rng = np.random.default_rng(2020)
x = rng.standard_normal((mb, ic, ih, iw)).astype("f4")
w = rng.standard_normal((oc, ic // g, kh, kw)).astype("f4")
b = rng.standard_normal(oc).astype("f4")
dy = rng.standard_normal((mb, oc, oh, ow)).astype("f4")



def taps(x, w):
    """Each tap with where it reads in x padded, and that x."""
    X = np.pad(x, ((0, 0), (0, 0), (ph, kh * dh + sh * oh), (pw, kw * dw + sw * ow)))
    for k in range(oc):
        for c in range(ic // g):
            channel = k // (oc // g) * (ic // g) + c
            for i in range(kh):
                for j in range(kw):
                    yield X, (k, c, i, j), np.s_[:, channel, i * dh:i * dh + sh * oh:sh, j * dw:j * dw + sw * ow:sw]


def forward(x, w):
    y = np.zeros((mb, oc, oh, ow))
    for X, tap, at in taps(x, w):
        y[:, tap[0]] += w[tap] * X[at]
    return y + b.astype("f8")[:, None, None]


def rounded(a, bits):
    """To so many significant bits."""
    m, e = np.frexp(a)
    return np.ldexp(np.rint(np.ldexp(m, bits)), e - bits)


X, W, DY = x.astype("f8"), w.astype("f8"), dy.astype("f8")
dX, dW = np.zeros_like(next(taps(X, W))[0]), np.zeros_like(W)
for padded, tap, at in taps(X, W):
    dX[at] += W[tap] * DY[:, tap[0]]
    dW[tap] = np.sum(DY[:, tap[0]] * padded[at])
y = forward(X, W)
dx, db = dX[:, :, ph:ph + ih, pw:pw + iw], DY.sum((0, 2, 3))

folder = os.path.dirname(os.path.abspath(__file__))
arrays = dict(x=x, w=w, b=b, dy=dy, y=y, dx=dx, dw=dW, db=db, y_f32=y.astype("f4"))
# What tensor cores make of it: factors, and of f16 and bf16 the results, have fewer bits.
arrays["y_tf32"] = forward(rounded(X, 11), rounded(W, 11)).astype("f4")
arrays["y_f16"] = rounded(forward(rounded(X, 11), rounded(W, 11)), 11).astype("f4")
arrays["y_bf16"] = rounded(forward(rounded(X, 8), rounded(W, 8)), 8).astype("f4")
arrays["half"] = x.astype("f2")
for name, array in arrays.items():
    np.save(os.path.join(folder, name + ".npy"), np.ascontiguousarray(array))
