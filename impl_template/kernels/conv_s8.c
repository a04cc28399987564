/* conv_s8.c: convolution forward on integers, in plain C: x of 0..255, w of -128..127, sums and results of 32 bits.
 *
 *   benchcnn verify --kernel conv_s8.c:conv --dtype u8:s8:s32 \
 *       --args x,w,b,y,beta,mb,ic,ih,iw,oc,oh,ow,kh,kw,sh,sw,ph,pw,dh,dw
 */
#include <stdint.h>

void conv(const uint8_t *x, const int8_t *w, const int32_t *b, int32_t *y, double beta, int mb, int ic, int ih, int iw,
          int oc, int oh, int ow, int kh, int kw, int sh, int sw, int ph, int pw, int dh, int dw)
{
    for (int n = 0; n < mb; n++)
        for (int k = 0; k < oc; k++)
            for (int p = 0; p < oh; p++)
                for (int q = 0; q < ow; q++) {
                    int32_t *to = &y[((n * oc + k) * oh + p) * ow + q];
                    int32_t sum = (b ? b[k] : 0) + (beta != 0 ? *to : 0); /* y may hold anything where beta is 0 */
                    for (int c = 0; c < ic; c++)
                        for (int i = 0; i < kh; i++)
                            for (int j = 0; j < kw; j++) {
                                const int h = p * sh - ph + i * (dh + 1), v = q * sw - pw + j * (dw + 1);
                                if (h < 0 || h >= ih || v < 0 || v >= iw) continue; /* padding */
                                sum += x[((n * ic + c) * ih + h) * iw + v] * w[((k * ic + c) * kh + i) * kw + j];
                            }
                    *to = sum; /* 16 bits would not do: 255 * 127 is half of what they hold */
                }
}
