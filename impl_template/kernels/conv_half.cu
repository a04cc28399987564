/* conv_half.cu: conv.cu in f16. Products and sums are float, and the result is rounded once, when it is stored.
 *
 *   benchcnn verify --kernel conv_half.cu:conv --dtype f16 --grid 'cdiv(oh*ow,tile),oc,mb' --block tile \
 *       --set kernel.tile=128 --args x,w,b,y,ic,ih,iw,oc,oh,ow,kh,kw,sh,sw,ph,pw,dh,dw */
#include <cuda_fp16.h>

__global__ void conv(const __half *x, const __half *w, const __half *b, __half *y, int ic, int ih, int iw, int oc,
                     int oh, int ow, int kh, int kw, int sh, int sw, int ph, int pw, int dh, int dw)
{
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x, p = pixel / ow, q = pixel % ow;
    const int k = blockIdx.y, n = blockIdx.z;
    if (p >= oh) return;
    float sum = b ? __half2float(b[k]) : 0; // without bias, b is NULL
    for (int c = 0; c < ic; c++)
        for (int i = 0; i < kh; i++)
            for (int j = 0; j < kw; j++) {
                const int h = p * sh - ph + i * (dh + 1), v = q * sw - pw + j * (dw + 1);
                if (h < 0 || h >= ih || v < 0 || v >= iw) continue; // padding
                sum += __half2float(x[((n * ic + c) * ih + h) * iw + v]) *
                       __half2float(w[((k * ic + c) * kh + i) * kw + j]);
            }
    y[((n * oc + k) * oh + p) * ow + q] = __float2half_rn(sum);
}
