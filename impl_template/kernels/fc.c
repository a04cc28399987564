/* fc.c: a fully connected layer forward in C: y[n,k] = b[k] + sum over i of w[k,i] * x[n,i].
 *
 *   benchcnn verify --op fc --kernel fc.c:fc --args 'x,w,b,y,mb,ic*ih*iw,oc'
 *
 * An argument may be an expression: `in` is what one image has in all its channels and pixels. */
void fc(const float *x, const float *w, const float *b, float *y, int mb, int in, int oc)
{
    for (int n = 0; n < mb; n++)
        for (int k = 0; k < oc; k++) {
            float sum = b ? b[k] : 0; /* without bias, b is NULL */
            for (int i = 0; i < in; i++) sum += w[k * in + i] * x[n * in + i];
            y[n * oc + k] = sum;
        }
}
