/* conv.c: the three directions of a convolution, chunk by chunk: copies, a product, copies.
 *
 * Where nothing has to be transposed (NHWC, a single image, batched products) a direction is two launches. */
#include "impl_cuda_im2col/im2col.h"

const cucol_kernels cucol_kernels_of[CUCOL_CONVS] = {
#define KERNELS(name, doc, op, flags, im2col, pads_x, col2im, pads_dx)                                                 \
    {&cucol_##im2col, &cucol_##col2im, pads_x, pads_dx},
#include "impl_cuda_im2col/kernels.inc"
#undef KERNELS
};

/* The images that are worked on at a time. */
typedef struct chunk {
    const cnn_plan *plan;
    const cnn_conv_desc *d;
    cucol_plan m;                  /* g, copy and outputs: of the chunk's images */
    char *columns, *padded, *wide; /* workspace */
    void *sums;                    /* of db's slices; db itself where there is one slice */
    int64_t first;                 /* image */
    bool transposes; /* NCHW with several images in one product: its y is `wide`, not the tensor as it lies */
    /* The three matrices: weights [oc/g][rows], columns [rows][width], outputs [oc/g][width]; `batch` of each. */
    cuda_matrix weights, column_matrix, output_matrix;
    int64_t width, batch;
} chunk;

/* Before the first chunk; then next_chunk() until it says false. */
static chunk first_chunk(const cnn_plan *plan, const cnn_weighted_args *args)
{
    const cucol_plan *m = plan->state;
    const bool sliced = plan->dir == CNN_BWD_W && args->db && m->slices > 1;
    char *base = args->workspace;
    return (chunk){.plan = plan,
                   .d = &plan->problem.u.conv,
                   .m = *m,
                   .columns = base + m->columns_at,
                   .padded = base + m->padded_at,
                   .wide = base + m->wide_at,
                   .sums = sliced ? base + m->sums_at : args->db};
}

/* A product an image, its weights always the same; or a product a group, all images of the chunk side by side. */
static void lay_out_matrices(chunk *c)
{
    const cucol_plan *m = &c->m;
    const bool last = c->m.outputs.channels_last;
    c->width = m->batched ? m->pixels : c->m.g.n * m->pixels;
    c->batch = m->batched ? c->m.g.n : c->d->g;
    c->weights = (cuda_matrix){m->group_rows, m->batched ? 0 : m->group_oc * m->group_rows, false};
    c->column_matrix = (cuda_matrix){c->width, m->group_rows * c->width, false};
    c->output_matrix = (cuda_matrix){c->width, m->group_oc * c->width, false};
    if (last) c->output_matrix = (cuda_matrix){c->d->oc, m->group_oc, true};
    if (last && m->direct) c->column_matrix = (cuda_matrix){c->d->ic, m->group_rows, true};
    c->transposes = !m->batched && !last && c->m.g.n > 1; /* one image is its own wide outputs */
}

static bool next_chunk(chunk *c)
{
    c->first += c->m.g.n;
    const int64_t left = c->d->mb - c->first, n = left < c->m.chunk ? left : c->m.chunk;
    c->m.g.n = c->m.copy.n = c->m.outputs.n = (int32_t)n;
    c->m.g.row_stride = c->m.batched ? c->m.pixels : n * c->m.pixels;
    c->m.g.image_stride = c->m.batched ? c->m.rows * c->m.pixels : c->m.pixels;
    lay_out_matrices(c);
    return n > 0;
}

/* Where the chunk's images begin in x or dx, and in y or dy: bytes. */
static size_t input_at(const chunk *c)
{
    return (size_t)(c->first * c->d->ic * c->m.copy.ih * c->m.copy.iw) * c->m.elem;
}

static size_t output_at(const chunk *c) { return (size_t)(c->first * c->d->oc * c->m.pixels) * c->m.elem; }

/* The columns of this chunk's images, and y's bias on the side where `bias` says so. */
static cnn_status make_columns(cucol_context *context, chunk *c, const void *x, const cucol_bias *bias,
                               const void **columns, cnn_error *err)
{
    const void *images = (const char *)x + input_at(c);
    *columns = c->m.direct ? images : c->columns;
    if (c->m.direct) return bias->y ? cucol_fill_bias(context, c->plan, bias, err) : CNN_OK;
    if (c->m.padded) {
        const cnn_status status = cucol_pad(context, c->plan, &c->m.copy, images, c->padded, err);
        if (status != CNN_OK) return status;
        images = c->padded;
    }
    return cucol_kernels_of[c->plan->algorithm.id].im2col(context, c->plan, &c->m.g, images, c->columns, bias, err);
}

static cnn_status fwd_chunk(cucol_context *context, chunk *c, const cnn_weighted_args *args, cnn_error *err)
{
    const cnn_conv_desc *d = c->d;
    const bool add = args->beta != 0, fill = !c->transposes && args->b;
    void *y = (char *)args->y + output_at(c);
    const cucol_bias bias = {.shape = c->m.outputs, .y = fill ? y : NULL, .b = args->b, .add = add};
    const void *columns;
    cnn_status status = make_columns(context, c, args->x, &bias, &columns, err);
    if (status != CNN_OK) return status;
    const cuda_gemm product = {c->m.group_oc, c->width,         c->m.group_rows,  c->batch,
                               c->weights,    c->column_matrix, c->output_matrix, !c->transposes && (add || fill)};
    status = cuda_gemm_run(&context->cuda, &context->blas, &d->t, &product, args->w, columns,
                           c->transposes ? c->wide : y, err);
    cnn_weighted_args part = *args;
    part.y = y, part.z = args->z ? (const char *)args->z + output_at(c) : NULL;
    if (status != CNN_OK) return status;
    if (!c->transposes) {
        cuda_pass pass = cuda_pass_of(&c->plan->problem, c->plan->knobs, &part);
        pass.count = (int64_t)c->m.g.n * d->oc * c->m.pixels;
        return cuda_epilogue_pass(&context->cuda, &pass, err);
    }
    return cucol_split_outputs(context, c->plan, &c->m.outputs, c->wide, &part, err);
}

/* This chunk's dy as the product wants it, and its part of db where `sums` is given. */
static cnn_status join_outputs(cucol_context *context, chunk *c, const void *all, const void **dy, void *sums, bool add,
                               cnn_error *err)
{
    const void *images = (const char *)all + output_at(c);
    void *wide = c->transposes ? c->wide : NULL;
    *dy = c->transposes ? c->wide : images;
    if (!wide && !sums) return CNN_OK;
    return cucol_join_outputs(context, c->plan, &c->m.outputs, images, wide, sums, c->m.slices, add, err);
}

/* Columns back into dx: at once where the kernel gathers, else through a zeroed padded copy. */
static cnn_status add_columns(cucol_context *context, chunk *c, void *dx, bool add, cnn_error *err)
{
    cucol_col2im_fn *const col2im = cucol_kernels_of[c->plan->algorithm.id].col2im;
    void *images = (char *)dx + input_at(c);
    if (!c->m.padded) return col2im(context, c->plan, &c->m.g, c->columns, images, add, err);
    cnn_status status = cuda_memory.fill((cnn_context *)context, c->padded, 0,
                                         (size_t)(c->m.g.n * c->m.copy.padded.image) * c->m.elem, err);
    if (status == CNN_OK) status = col2im(context, c->plan, &c->m.g, c->columns, c->padded, true, err);
    if (status == CNN_OK) status = cucol_crop(context, c->plan, &c->m.copy, c->padded, images, add, err);
    return status;
}

static cnn_status bwd_data_chunk(cucol_context *context, chunk *c, const cnn_weighted_args *args, cnn_error *err)
{
    const void *dy;
    cnn_status status = join_outputs(context, c, args->dy, &dy, NULL, false, err);
    if (status != CNN_OK) return status;
    cuda_gemm product = {c->m.group_rows, c->width,         c->m.group_oc,    c->batch,
                         c->weights,      c->output_matrix, c->column_matrix, 0};
    product.a.transposed = true;
    if (c->m.direct) {
        product.beta = args->beta;
        return cuda_gemm_run(&context->cuda, &context->blas, &c->d->t, &product, args->w, dy,
                             (char *)args->dx + input_at(c), err);
    }
    status = cuda_gemm_run(&context->cuda, &context->blas, &c->d->t, &product, args->w, dy, c->columns, err);
    return status == CNN_OK ? add_columns(context, c, args->dx, args->beta != 0, err) : status;
}

/* Chunks after the first add to dw and to the sums of db. */
static cnn_status bwd_weights_chunk(cucol_context *context, chunk *c, const cnn_weighted_args *args, cnn_error *err)
{
    const cucol_bias no_bias = {.y = NULL};
    const bool add = c->first > 0 || args->beta != 0;
    const void *columns, *dy;
    cnn_status status = make_columns(context, c, args->x, &no_bias, &columns, err);
    if (status == CNN_OK)
        status = join_outputs(context, c, args->dy, &dy, c->sums, c->sums == args->db ? add : c->first > 0, err);
    if (status != CNN_OK) return status;
    cuda_gemm product = {c->m.group_oc,    c->m.group_rows,  c->width,   c->batch,
                         c->output_matrix, c->column_matrix, c->weights, add};
    product.b.transposed = !product.b.transposed;
    return cuda_gemm_run(&context->cuda, &context->blas, &c->d->t, &product, dy, columns, args->dw, err);
}

cnn_status cucol_conv_run(cucol_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    typedef cnn_status chunk_fn(cucol_context *, chunk *, const cnn_weighted_args *, cnn_error *);
    static chunk_fn *const run[CNN_DIR_COUNT] = {
        [CNN_FWD] = fwd_chunk, [CNN_BWD_D] = bwd_data_chunk, [CNN_BWD_W] = bwd_weights_chunk};
    chunk c = first_chunk(plan, args);
    cnn_status status = CNN_OK;
    while (status == CNN_OK && next_chunk(&c)) status = run[plan->dir](context, &c, args, err);
    if (status != CNN_OK || c.sums == args->db) return status;
    return cucol_add_slices(context, plan, c.sums, c.m.slices, (int32_t)c.d->oc, args->db, args->beta != 0, err);
}
