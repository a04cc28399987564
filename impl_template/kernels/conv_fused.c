/* conv_fused.c: convolution forward with a residual and an activation behind it, in plain C: y = f(b + sum + z). z is
 * an array like y; without a residual it is NULL. act is 0 (none), 1 (ReLU), 2 (leaky ReLU, whose slope is alpha) or 3
 * (clipped ReLU, whose ceiling is alpha): the numbers of cnn_act_kind in cnn/desc.h.
 *
 *   benchcnn verify --epilogue add+leaky_relu=0.1 --kernel conv_fused.c:conv \
 *       --args x,w,b,z,y,mb,ic,ih,iw,oc,oh,ow,kh,kw,sh,sw,ph,pw,dh,dw,act,alpha */
static float activation(float v, int act, float alpha)
{
    if (act == 0) return v;
    if (v < 0) return act == 2 ? alpha * v : 0;
    return act == 3 && v > alpha ? alpha : v;
}

void conv(const float *x, const float *w, const float *b, const float *z, float *y, int mb, int ic, int ih, int iw,
          int oc, int oh, int ow, int kh, int kw, int sh, int sw, int ph, int pw, int dh, int dw, int act, float alpha)
{
    for (int n = 0; n < mb; n++)
        for (int k = 0; k < oc; k++)
            for (int p = 0; p < oh; p++)
                for (int q = 0; q < ow; q++) {
                    float sum = b ? b[k] : 0; /* without bias, b is NULL */
                    for (int c = 0; c < ic; c++)
                        for (int i = 0; i < kh; i++)
                            for (int j = 0; j < kw; j++) {
                                const int h = p * sh - ph + i * (dh + 1), v = q * sw - pw + j * (dw + 1);
                                if (h < 0 || h >= ih || v < 0 || v >= iw) continue; /* padding */
                                sum += x[((n * ic + c) * ih + h) * iw + v] * w[((k * ic + c) * kh + i) * kw + j];
                            }
                    const int at = ((n * oc + k) * oh + p) * ow + q;
                    if (z) sum += z[at];
                    y[at] = activation(sum, act, alpha);
                }
}
