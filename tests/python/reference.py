"""Convolutions in NumPy, as a loop over taps: what the tests verify and compare with. Arrays as PyTorch has them."""

import numpy


def taps(x, y, w, p):
    """For each tap (i, j): its slice of the padded x, as y has rows and columns. Padding is as wide as the taps reach."""
    oh, ow = y.shape[2:]
    kh, kw = w.shape[2:]
    rows = max(p.ph + x.shape[2], (oh - 1) * p.sh + (kh - 1) * (p.dh + 1) + 1)
    columns = max(p.pw + x.shape[3], (ow - 1) * p.sw + (kw - 1) * (p.dw + 1) + 1)
    padded = numpy.zeros(x.shape[:2] + (rows, columns), x.dtype)
    padded[:, :, p.ph:p.ph + x.shape[2], p.pw:p.pw + x.shape[3]] = x
    for i in range(kh):
        for j in range(kw):
            top, left = i * (p.dh + 1), j * (p.dw + 1)
            yield i, j, padded[:, :, top:top + (oh - 1) * p.sh + 1:p.sh, left:left + (ow - 1) * p.sw + 1:p.sw], padded


def groups(array, g):
    return numpy.split(array, g, axis=1)


def forward(x, w, b, problem):
    """y of a convolution."""
    p, y = problem, numpy.zeros((problem.mb, problem.oc, problem.oh, problem.ow), x.dtype)
    for i, j, part, _ in taps(x, y, w, p):
        for k, (some_y, some_x) in enumerate(zip(groups(y, p.g), groups(part, p.g))):
            its = w[k * p.oc // p.g:(k + 1) * p.oc // p.g, :, i, j]
            some_y += numpy.einsum("kc,nchw->nkhw", its, some_x).astype(x.dtype)
    return y if b is None else y + b[:, None, None]


def backward_data(dy, w, problem):
    """dx of a convolution."""
    p, x = problem, numpy.zeros((problem.mb, problem.ic, problem.ih, problem.iw), dy.dtype)
    whole = None
    for i, j, part, padded in taps(x, dy, w, p):
        if whole is None:
            whole = padded
        its = numpy.lib.stride_tricks.as_strided(whole[:, :, i * (p.dh + 1):, j * (p.dw + 1):], part.shape,
                                                 (*whole.strides[:2], whole.strides[2] * p.sh, whole.strides[3] * p.sw))
        for k, (some_x, some_y) in enumerate(zip(groups(its, p.g), groups(dy, p.g))):
            weights = w[k * p.oc // p.g:(k + 1) * p.oc // p.g, :, i, j]
            some_x += numpy.einsum("kc,nkhw->nchw", weights, some_y).astype(dy.dtype)
    return whole[:, :, p.ph:p.ph + p.ih, p.pw:p.pw + p.iw]


def backward_weights(x, dy, problem):
    """dw and db of a convolution."""
    p, dw = problem, numpy.zeros((problem.oc, problem.ic // problem.g, problem.kh, problem.kw), x.dtype)
    for i, j, part, _ in taps(x, dy, dw, p):
        for k, (some_x, some_y) in enumerate(zip(groups(part, p.g), groups(dy, p.g))):
            dw[k * p.oc // p.g:(k + 1) * p.oc // p.g, :, i, j] = numpy.einsum("nkhw,nchw->kc", some_y, some_x)
    return dw, dy.sum(axis=(0, 2, 3))
