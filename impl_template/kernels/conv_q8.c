/* conv_q8.c: convolution forward with quantized results, in plain C: x and y of 0..255, w of -128..127, sums of 32
 * bits, a scale for all channels or for each.
 *
 *   benchcnn verify --kernel conv_q8.c:conv --dtype u8:s8:u8 \
 *       --args x,w,b,scale,y,per_oc,zero_x,zero_y,mb,ic,ih,iw,oc,oh,ow,kh,kw,sh,sw,ph,pw,dh,dw
 */
#include <math.h>
#include <stdint.h>

/* To the nearest, of two as near the even one; then from the zero point on; and within 0..255. */
static uint8_t quantize(int32_t sum, float scale, int zero)
{
    const float y = rintf((float)sum * scale) + (float)zero;
    return (uint8_t)(y < 0 ? 0 : y > 255 ? 255 : y);
}

void conv(const uint8_t *x, const int8_t *w, const int32_t *b, const float *scale, uint8_t *y, int per_oc, int zero_x,
          int zero_y, int mb, int ic, int ih, int iw, int oc, int oh, int ow, int kh, int kw, int sh, int sw, int ph,
          int pw, int dh, int dw)
{
    for (int n = 0; n < mb; n++)
        for (int k = 0; k < oc; k++)
            for (int p = 0; p < oh; p++)
                for (int q = 0; q < ow; q++) {
                    int32_t sum = b ? b[k] : 0;
                    for (int c = 0; c < ic; c++)
                        for (int i = 0; i < kh; i++)
                            for (int j = 0; j < kw; j++) {
                                const int h = p * sh - ph + i * (dh + 1), v = q * sw - pw + j * (dw + 1);
                                if (h < 0 || h >= ih || v < 0 || v >= iw)
                                    continue; /* padding is zero_x: adds nothing */
                                const int32_t pixel = x[((n * ic + c) * ih + h) * iw + v] - zero_x;
                                sum += pixel * w[((k * ic + c) * kh + i) * kw + j];
                            }
                    y[((n * oc + k) * oh + p) * ow + q] = quantize(sum, scale[per_oc ? k : 0], zero_y);
                }
}
