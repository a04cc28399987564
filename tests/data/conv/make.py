#!/usr/bin/env python3
"""Makes the arrays beside this file: a convolution, its gradients and their inputs, computed by NumPy alone in float64,
one tap after the other, as in the definition. tests/cli/test_conv.sh feeds them to `benchcnn conv`.

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

X = np.pad(x.astype("f8"), ((0, 0), (0, 0), (ph, kh * dh + sh * oh), (pw, kw * dw + sw * ow)))
W, DY = w.astype("f8"), dy.astype("f8")
y, dX, dW = np.zeros((mb, oc, oh, ow)), np.zeros_like(X), np.zeros_like(W)
for k in range(oc):
    for c in range(ic // g):
        channel = k // (oc // g) * (ic // g) + c
        for i in range(kh):
            for j in range(kw):
                at = np.s_[:, channel, i * dh:i * dh + sh * oh:sh, j * dw:j * dw + sw * ow:sw]
                y[:, k] += W[k, c, i, j] * X[at]
                dX[at] += W[k, c, i, j] * DY[:, k]
                dW[k, c, i, j] = np.sum(DY[:, k] * X[at])
y += b.astype("f8")[:, None, None]
dx, db = dX[:, :, ph:ph + ih, pw:pw + iw], DY.sum((0, 2, 3))

folder = os.path.dirname(os.path.abspath(__file__))
for name, array in dict(x=x, w=w, b=b, dy=dy, y=y, dx=dx, dw=dW, db=db).items():
    np.save(os.path.join(folder, name + ".npy"), np.ascontiguousarray(array))
np.save(os.path.join(folder, "y_f32.npy"), y.astype("f4"))
