/* conv.c: convolution forward in C, as the definition has it. x is [mb][ic][ih][iw], w [oc][ic][kh][kw].
 *
 *   benchcnn verify --kernel conv.c:conv --args x,w,b,y,mb,ic,ih,iw,oc,oh,ow,kh,kw,sh,sw,ph,pw,dh,dw
 *
 * There is no g among its arguments: problems with groups are not asked of it. */
void conv(const float *x, const float *w, const float *b, float *y, int mb, int ic, int ih, int iw, int oc, int oh,
          int ow, int kh, int kw, int sh, int sw, int ph, int pw, int dh, int dw)
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
                    y[((n * oc + k) * oh + p) * ow + q] = sum;
                }
}
