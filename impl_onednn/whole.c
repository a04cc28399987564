/* whole.c: products of integers, and results of 8 bits (cnn_quantization).
 *
 * Sums of oneDNN pass through an f32 on their way to s32: so only those are taken that 24 bits hold, and a bias of s32
 * is added behind oneDNN. Without VNNI its kernels add up products of u8 by s8 in pairs of 16 bits, which saturate, and
 * halve weights where x is s8 (https://oneapi-src.github.io/oneDNN/dev_guide_int8_computations.html): only its
 * reference kernels are right then, whatever the data.
 *
 * The scales of a result of 8 bits are known when it runs only, and multiply the sum with the bias. oneDNN's own scales
 * are not that: 2.6 has none at run time for a convolution, and 3 adds a bias to what is scaled. So they are a factor
 * of a primitive's results, a post-operation, before those of an epilogue. */
#include "loops.h"

#include <string.h>

bool onednn_whole_takes(void *user, const char *kernel)
{
    onednn_build *b = user;
    const cnn_problem *p = b->request->problem;
    const bool scales = cnn_quantization_of(p).per_oc && cnn_is_conv(p) && p->u.conv.g > 1;
    if (!onednn_has_vnni() && strncmp(kernel, "ref", 3) != 0)
        return onednn_pass_over(b, kernel, "saturate sums of pairs");
    if (scales && strstr(kernel, "gemm_s8") != NULL) /* found by fuzzing with VNNI: g2mb1ic2iw1oc62ow2kw1pw0soc1 */
        return onednn_pass_over(b, kernel, "take the scales of other channels");
    return cnn_epilogue_of(b->request->problem).add ? onednn_fused_takes(user, kernel)
                                                    : onednn_conv_takes(user, kernel);
}

static dnnl_status_t set_attributes(onednn_build *b, const cnn_quantization *quant, onednn_md scales, onednn_md z)
{
    dnnl_post_ops_t ops = NULL;
    dnnl_status_t status = dnnl_primitive_attr_clone(&b->fused, b->plain);
    if (status == dnnl_success) status = dnnl_post_ops_create(&ops);
    if (status == dnnl_success) status = dnnl_post_ops_append_binary(ops, dnnl_binary_mul, scales);
    if (status == dnnl_success) status = onednn_append_epilogue(b, ops, z, quant->zero_y);
    if (status == dnnl_success) status = dnnl_primitive_attr_set_post_ops(b->fused, ops);
    if (status == dnnl_success && quant->zero_x != 0) status = onednn_set_zero_point(b->fused, DNNL_ARG_SRC);
    if (status == dnnl_success && quant->zero_y != 0) status = onednn_set_zero_point(b->fused, DNNL_ARG_DST);
    if (ops != NULL) (void)dnnl_post_ops_destroy(ops);
    return status;
}

int onednn_quantize(onednn_build *b, const cnn_conv_desc *d, int n_dims, onednn_md z, onednn_use *uses)
{
    const cnn_quantization *quant = &d->quant;
    const onednn_shape shape = {n_dims, {1, quant->per_oc ? d->oc : 1, 1, 1, 1}}; /* along y */
    const dnnl_dims_t one = {1};
    const int zero = DNNL_ARG_ATTR_ZERO_POINTS;
    int n = 0;
    if (!cnn_is_quantized(d->t.dtype)) return 0;
    const onednn_md scales = onednn_layout(b, dnnl_f32, n_dims, shape.dims, onednn_tag(&shape, CNN_NCHW));
    const onednn_md number = onednn_layout(b, dnnl_s32, 1, one, dnnl_a);
    if (b->status != CNN_OK) return 0;
    const dnnl_status_t status = set_attributes(b, quant, scales, z);
    if (status != dnnl_success) (void)onednn_keep(b, status, NULL);
    b->program->zero_x = quant->zero_x;
    b->program->zero_y = quant->zero_y;
    uses[n++] =
        (onednn_use){DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, onednn_argument(b, ONEDNN_SCALE, scales)};
    if (quant->zero_x != 0) uses[n++] = (onednn_use){zero | DNNL_ARG_SRC, onednn_argument(b, ONEDNN_ZERO_X, number)};
    if (quant->zero_y != 0) uses[n++] = (onednn_use){zero | DNNL_ARG_DST, onednn_argument(b, ONEDNN_ZERO_Y, number)};
    return n;
}

typedef struct bias_job {
    int64_t channels, pixels;
    bool nhwc;
    const int32_t *b;
    int32_t *y;
} bias_job;

/* Rows as in bias.c. Sums wrap, as the processor's do. */
ONEDNN_CLONES static void add_rows(const void *job, int64_t first, int64_t last, int64_t task)
{
    const bias_job *j = job;
    (void)task;
    for (int64_t row = first; row < last; row++) {
        int32_t *y = j->y + row * (j->nhwc ? j->channels : j->pixels);
        const uint32_t of_row = (uint32_t)j->b[row % j->channels];
        if (j->nhwc)
            for (int64_t c = 0; c < j->channels; c++) y[c] = (int32_t)((uint32_t)y[c] + (uint32_t)j->b[c]);
        else
            for (int64_t p = 0; p < j->pixels; p++) y[p] = (int32_t)((uint32_t)y[p] + of_row);
    }
}

void onednn_whole_bias(const onednn_context *c, const cnn_problem *problem, const cnn_weighted_args *a)
{
    const cnn_conv_desc d = problem->op == CNN_OP_FC ? cnn_fc_as_conv(&problem->u.fc) : cnn_with_depth(problem);
    if (a->b == NULL || a->y == NULL || cnn_part_dtype(d.t.dtype, CNN_PART_RESULT) != CNN_S32) return;
    const bias_job j = {.channels = d.oc,
                        .pixels = d.od * d.oh * d.ow,
                        .nhwc = d.t.layout == CNN_NHWC || problem->op == CNN_OP_FC,
                        .b = a->b,
                        .y = a->y};
    const int64_t rows = d.mb * (j.nhwc ? j.pixels : j.channels), length = j.nhwc ? j.channels : j.pixels;
    onednn_parallel(c, rows, onednn_share(rows, length), add_rows, &j);
    onednn_phase(c, "bias");
}
