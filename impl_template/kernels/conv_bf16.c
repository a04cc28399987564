/* conv_bf16.c: convolution forward in bf16, in plain C: 16 bits a number, the upper half of a float's. Products and
 * sums are float, and the result is rounded once, to the nearest even number, when it is stored.
 *
 *   benchcnn verify --kernel conv_bf16.c:conv --dtype bf16 --args x,w,b,y,mb,ic,ih,iw,oc,oh,ow,kh,kw,sh,sw,ph,pw,dh,dw
 */
#include <stdint.h>
#include <string.h>

static float from_bf16(uint16_t code)
{
    const uint32_t bits = (uint32_t)code << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint16_t to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16); /* without it: cut off, which verify finds */
}

void conv(const uint16_t *x, const uint16_t *w, const uint16_t *b, uint16_t *y, int mb, int ic, int ih, int iw, int oc,
          int oh, int ow, int kh, int kw, int sh, int sw, int ph, int pw, int dh, int dw)
{
    for (int n = 0; n < mb; n++)
        for (int k = 0; k < oc; k++)
            for (int p = 0; p < oh; p++)
                for (int q = 0; q < ow; q++) {
                    float sum = b ? from_bf16(b[k]) : 0; /* added before it is stored, not after */
                    for (int c = 0; c < ic; c++)
                        for (int i = 0; i < kh; i++)
                            for (int j = 0; j < kw; j++) {
                                const int h = p * sh - ph + i * (dh + 1), v = q * sw - pw + j * (dw + 1);
                                if (h < 0 || h >= ih || v < 0 || v >= iw) continue; /* padding */
                                sum += from_bf16(x[((n * ic + c) * ih + h) * iw + v]) *
                                       from_bf16(w[((k * ic + c) * kh + i) * kw + j]);
                            }
                    y[((n * oc + k) * oh + p) * ow + q] = to_bf16(sum);
                }
}
