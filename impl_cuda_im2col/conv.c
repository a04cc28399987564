/* conv.c: the three directions of a convolution, chunk by chunk: copies, a product, copies.
 *
 * Where nothing has to be transposed (NHWC, a single image, batched products) a direction is two launches. */
#include "impl_cuda_im2col/im2col.h"

typedef struct column_kernels {
    cucol_im2col_fn *im2col;
    cucol_col2im_fn *col2im;
} column_kernels;

static const column_kernels kernels[] = {
    [CUCOL_IMPLICIT_PAD] = {cucol_im2col_implicit_pad, cucol_col2im_gather},
    [CUCOL_GATHER] = {cucol_im2col_per_element, cucol_col2im_gather},
    [CUCOL_PER_ELEMENT] = {cucol_im2col_per_element, cucol_col2im_per_element},
    [CUCOL_PER_FILTER] = {cucol_im2col_per_filter, cucol_col2im_per_filter},
};

/* Where the chunk's images begin in x or dx, and in y or dy: bytes. */
static size_t input_at(const cucol_chunk *c)
{
    return (size_t)(c->first * c->d->ic * c->d->ih * c->d->iw) * c->m->elem;
}

static size_t output_at(const cucol_chunk *c) { return (size_t)(c->first * c->d->oc * c->m->pixels) * c->m->elem; }

/* The columns of this chunk's images, and y's bias on the side where `bias` says so. */
static cnn_status make_columns(cucol_context *context, cucol_chunk *c, const void *x, const cucol_bias *bias,
                               const void **columns, cnn_error *err)
{
    const void *images = (const char *)x + input_at(c);
    *columns = c->m->direct ? images : c->columns;
    if (c->m->direct) return bias->y ? cucol_fill_bias(context, c->plan, bias, err) : CNN_OK;
    if (c->m->padded) {
        const cnn_status status = cucol_pad(context, c->plan, &c->copy, images, c->padded, err);
        if (status != CNN_OK) return status;
        images = c->padded;
    }
    return kernels[c->plan->algorithm.id].im2col(context, c->plan, &c->g, images, c->columns, bias, err);
}

static cnn_status fwd_chunk(cucol_context *context, cucol_chunk *c, const cnn_weighted_args *args, cnn_error *err)
{
    const cnn_conv_desc *d = c->d;
    const bool add = args->beta != 0, fill = !c->transposes && args->b;
    void *y = (char *)args->y + output_at(c);
    const cucol_bias bias = {.shape = c->outputs, .y = fill ? y : NULL, .b = args->b, .add = add};
    const void *columns;
    cnn_status status = make_columns(context, c, args->x, &bias, &columns, err);
    if (status != CNN_OK) return status;
    const cuda_gemm product = {c->m->group_oc, c->width,         c->m->group_rows, c->batch,
                               c->weights,     c->column_matrix, c->output_matrix, !c->transposes && (add || fill)};
    status = cuda_gemm_run(&context->cuda, &context->blas, &d->t, &product, args->w, columns,
                           c->transposes ? c->wide : y, err);
    if (status != CNN_OK || !c->transposes) return status;
    return cucol_split_outputs(context, c->plan, &c->outputs, c->wide, args->b, y, add, err);
}

/* This chunk's dy as the product wants it, and its part of db where `sums` is given. */
static cnn_status join_outputs(cucol_context *context, cucol_chunk *c, const void *all, const void **dy, void *sums,
                               bool add, cnn_error *err)
{
    const void *images = (const char *)all + output_at(c);
    void *wide = c->transposes ? c->wide : NULL;
    *dy = c->transposes ? c->wide : images;
    if (!wide && !sums) return CNN_OK;
    return cucol_join_outputs(context, c->plan, &c->outputs, images, wide, sums, c->m->slices, add, err);
}

/* Columns back into dx: at once where the kernel gathers, else through a zeroed padded copy. */
static cnn_status add_columns(cucol_context *context, cucol_chunk *c, void *dx, bool add, cnn_error *err)
{
    cucol_col2im_fn *const col2im = kernels[c->plan->algorithm.id].col2im;
    void *images = (char *)dx + input_at(c);
    if (!c->m->padded) return col2im(context, c->plan, &c->g, c->columns, images, add, err);
    cnn_status status = cuda_memory.fill((cnn_context *)context, c->padded, 0,
                                         (size_t)(c->g.n * c->copy.padded.image) * c->m->elem, err);
    if (status == CNN_OK) status = col2im(context, c->plan, &c->g, c->columns, c->padded, true, err);
    if (status == CNN_OK) status = cucol_crop(context, c->plan, &c->copy, c->padded, images, add, err);
    return status;
}

static cnn_status bwd_data_chunk(cucol_context *context, cucol_chunk *c, const cnn_weighted_args *args, cnn_error *err)
{
    const void *dy;
    cnn_status status = join_outputs(context, c, args->dy, &dy, NULL, false, err);
    if (status != CNN_OK) return status;
    cuda_gemm product = {c->m->group_rows, c->width,         c->m->group_oc,   c->batch,
                         c->weights,       c->output_matrix, c->column_matrix, 0};
    product.a.transposed = true;
    if (c->m->direct) {
        product.beta = args->beta;
        return cuda_gemm_run(&context->cuda, &context->blas, &c->d->t, &product, args->w, dy,
                             (char *)args->dx + input_at(c), err);
    }
    status = cuda_gemm_run(&context->cuda, &context->blas, &c->d->t, &product, args->w, dy, c->columns, err);
    return status == CNN_OK ? add_columns(context, c, args->dx, args->beta != 0, err) : status;
}

/* Chunks after the first add to dw and to the sums of db. */
static cnn_status bwd_weights_chunk(cucol_context *context, cucol_chunk *c, const cnn_weighted_args *args,
                                    cnn_error *err)
{
    const cucol_bias no_bias = {.y = NULL};
    const bool add = c->first > 0 || args->beta != 0;
    const void *columns, *dy;
    cnn_status status = make_columns(context, c, args->x, &no_bias, &columns, err);
    if (status == CNN_OK)
        status = join_outputs(context, c, args->dy, &dy, c->sums, c->sums == args->db ? add : c->first > 0, err);
    if (status != CNN_OK) return status;
    cuda_gemm product = {c->m->group_oc,   c->m->group_rows, c->width,   c->batch,
                         c->output_matrix, c->column_matrix, c->weights, add};
    product.b.transposed = !product.b.transposed;
    return cuda_gemm_run(&context->cuda, &context->blas, &c->d->t, &product, dy, columns, args->dw, err);
}

cnn_status cucol_conv_run(cucol_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    typedef cnn_status chunk_fn(cucol_context *, cucol_chunk *, const cnn_weighted_args *, cnn_error *);
    static chunk_fn *const run[CNN_DIR_COUNT] = {
        [CNN_FWD] = fwd_chunk, [CNN_BWD_D] = bwd_data_chunk, [CNN_BWD_W] = bwd_weights_chunk};
    cucol_chunk c = cucol_chunk_of(plan, args);
    cnn_status status = CNN_OK;
    while (status == CNN_OK && cucol_chunk_next(&c)) status = run[plan->dir](context, &c, args, err);
    if (status != CNN_OK || c.sums == args->db) return status;
    return cucol_add_slices(context, plan, c.sums, c.m->slices, (int32_t)c.d->oc, args->db, args->beta != 0, err);
}
