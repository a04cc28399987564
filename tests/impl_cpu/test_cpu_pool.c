/* test_cpu_pool.c: impl_cpu's pooling against its definition, in double. */
#include "cpu_ops.h"

static cnn_plan pool_plan(const cnn_pool_desc *d) { return (cnn_plan){.problem = {.op = CNN_OP_POOL, .u.pool = *d}}; }

/* Sizes without oh, ow and the type; ph_r, pw_r follow from oh, ow, which are chosen to cut rows off, too. */
static const cnn_pool_desc pool_shapes[] = {
    {.mb = 2, .ic = 3, .ih = 8, .iw = 10, .oh = 4, .ow = 5, .kh = 2, .kw = 2, .sh = 2, .sw = 2},
    {.mb = 2, .ic = 17, .ih = 7, .iw = 6, .oh = 7, .ow = 6, .kh = 3, .kw = 3, .sh = 1, .sw = 1, .ph = 1, .pw = 1},
    {.mb = 1, .ic = 5, .ih = 9, .iw = 12, .oh = 4, .ow = 3, .kh = 3, .kw = 2, .sh = 2, .sw = 3, .ph = 1, .dh = 1},
    {.mb = 1, .ic = 16, .ih = 5, .iw = 11, .oh = 2, .ow = 9, .kh = 2, .kw = 4, .sh = 4, .sw = 1, .pw = 3, .dw = 2},
    {.mb = 3, .ic = 33, .ih = 6, .iw = 6, .oh = 2, .ow = 2, .kh = 2, .kw = 2, .sh = 2, .sw = 2}, /* right pad -2 */
    {.mb = 1, .ic = 2, .ih = 3, .iw = 3, .oh = 3, .ow = 3, .kh = 5, .kw = 5, .sh = 1, .sw = 1, .ph = 2, .pw = 2},
    {.mb = 8, .ic = 40, .ih = 17, .iw = 13, .oh = 9, .ow = 7, .kh = 3, .kw = 3, .sh = 2, .sw = 2, .ph = 1, .pw = 1},
    {.mb = 6, .ic = 70, .ih = 5, .iw = 7, .oh = 3, .ow = 4, .kh = 3, .kw = 3, .sh = 2, .sw = 2, .ph = 1, .pw = 1},
    {.mb = 1, .ic = 1, .ih = 1, .iw = 9, .oh = 1, .ow = 4, .kh = 1, .kw = 3, .sh = 1, .sw = 2},
    {.mb = 1, .ic = 20, .ih = 9, .iw = 40, .oh = 7, .ow = 20, .kh = 3, .kw = 3, .sh = 1, .sw = 2, .pw = 1, .dw = 1},
    {.mb = 2, .ic = 3, .ih = 28, .iw = 35, .oh = 14, .ow = 12, .kh = 3, .kw = 5, .sh = 2, .sw = 3, .ph = 1, .pw = 2},
    {.mb = 1, .ic = 6, .ih = 13, .iw = 33, .oh = 13, .ow = 33, .kh = 6, .kw = 2, .sh = 1, .sw = 1, .ph = 2, .pw = 1},
    /* rows of more columns than there is room for; and as many as there is */
    {.mb = 1, .ic = 2, .ih = 3, .iw = 1100, .oh = 2, .ow = 549, .kh = 2, .kw = 4, .sh = 1, .sw = 2, .pw = 0},
    {.mb = 1, .ic = 1, .ih = 2, .iw = 1022, .oh = 2, .ow = 1022, .kh = 1, .kw = 3, .sh = 1, .sw = 1, .pw = 1},
};
enum { POOL_SHAPES = sizeof pool_shapes / sizeof *pool_shapes };

/* One window by the definition: its result, the taps inside, and where its first maximum is. */
typedef struct window {
    double max, sum;
    int64_t taps, max_h, max_w;
} window;

static window look(const cnn_pool_desc *d, const vec *x, int64_t n, int64_t c, int64_t p, int64_t q)
{
    window w = {.max = -INFINITY};
    for (int64_t i = 0; i < d->kh; i++) {
        for (int64_t j = 0; j < d->kw; j++) {
            const int64_t h = p * d->sh - d->ph + i * (d->dh + 1), v = q * d->sw - d->pw + j * (d->dw + 1);
            if (h < 0 || h >= d->ih || v < 0 || v >= d->iw) continue;
            const double value = vec_get(x, cnn_offset(d->t.layout, d->ic, d->ih, d->iw, n, c, h, v));
            if (w.taps == 0 || value > w.max) {
                w.max = value;
                w.max_h = h;
                w.max_w = v;
            }
            w.sum += value;
            w.taps++;
        }
    }
    return w;
}

static double divided_by(const cnn_pool_desc *d, const window *w)
{
    return (double)(d->kind == CNN_POOL_AVG_PAD ? d->kh * d->kw : w->taps);
}

static void check_pool_fwd(void **state, const cnn_pool_desc *d, vec *x)
{
    const cnn_plan plan = pool_plan(d);
    vec y = vec_new(d->t.dtype, d->mb * d->ic * d->oh * d->ow);
    const cnn_map_fwd_args args = {.x = x->data, .y = y.data};
    cnn_error err;
    EACH_CONTEXT(v)
    {
        vec_poison(&y);
        assert_int_equal(cpu_pool_fwd(CONTEXT(v), &plan, &args, &err), CNN_OK);
        vec_same_bits(&y, v);
    }
    for (int64_t n = 0; n < d->mb; n++)
        for (int64_t c = 0; c < d->ic; c++)
            for (int64_t p = 0; p < d->oh; p++)
                for (int64_t q = 0; q < d->ow; q++) {
                    const window w = look(d, x, n, c, p, q);
                    const double want = d->kind == CNN_POOL_MAX ? w.max : w.sum / divided_by(d, &w);
                    const double ulps = d->kind == CNN_POOL_MAX ? 0 : (double)w.taps + 2;
                    assert_near(&y, cnn_offset(d->t.layout, d->ic, d->oh, d->ow, n, c, p, q), want, 8, ulps);
                }
    vec_free(&y);
}

/* dx by the definition, in double. */
static void add_gradient(const cnn_pool_desc *d, const window *w, int64_t n, int64_t c, int64_t p, int64_t q, double dy,
                         double *dx)
{
    for (int64_t i = 0; i < d->kh; i++) {
        for (int64_t j = 0; j < d->kw; j++) {
            const int64_t h = p * d->sh - d->ph + i * (d->dh + 1), v = q * d->sw - d->pw + j * (d->dw + 1);
            if (h < 0 || h >= d->ih || v < 0 || v >= d->iw) continue;
            double *at = &dx[cnn_offset(d->t.layout, d->ic, d->ih, d->iw, n, c, h, v)];
            if (d->kind != CNN_POOL_MAX)
                *at += dy / divided_by(d, w);
            else if (h == w->max_h && v == w->max_w)
                *at += dy;
        }
    }
}

static void check_pool_bwd(void **state, const cnn_pool_desc *d, vec *x, vec *dy)
{
    const cnn_plan plan = pool_plan(d);
    vec dx = vec_new(d->t.dtype, x->count);
    double *want = calloc((size_t)x->count, sizeof *want);
    const cnn_map_bwd_args args = {.x = x->data, .dy = dy->data, .dx = dx.data};
    cnn_error err;
    assert_non_null(want);
    EACH_CONTEXT(v)
    {
        vec_poison(&dx);
        assert_int_equal(cpu_pool_bwd(CONTEXT(v), &plan, &args, &err), CNN_OK);
        vec_same_bits(&dx, v);
    }
    for (int64_t n = 0; n < d->mb; n++)
        for (int64_t c = 0; c < d->ic; c++)
            for (int64_t p = 0; p < d->oh; p++)
                for (int64_t q = 0; q < d->ow; q++) {
                    const window w = look(d, x, n, c, p, q);
                    add_gradient(d, &w, n, c, p, q,
                                 vec_get(dy, cnn_offset(d->t.layout, d->ic, d->oh, d->ow, n, c, p, q)), want);
                }
    for (int64_t i = 0; i < x->count; i++)
        assert_near(&dx, i, want[i], 8, d->kind == CNN_POOL_MAX ? 0 : (double)(d->kh * d->kw) + 2);
    free(want);
    vec_free(&dx);
}

/* Small integers: ties in nearly every window, and the sums of the max gradient are exact. */
static void pool_agrees_with_the_definition(void **state)
{
    EACH_TYPE(dtype, layout)
    for (int shape = 0; shape < POOL_SHAPES; shape++)
        for (cnn_pool_kind kind = CNN_POOL_MAX; kind < CNN_POOL_COUNT; kind++) {
            cnn_pool_desc d = pool_shapes[shape];
            d.t = type_of(dtype, layout);
            d.kind = kind;
            if (kind == CNN_POOL_GLOBAL_AVG) {
                d.kh = d.ih, d.kw = d.iw, d.oh = d.ow = d.sh = d.sw = 1;
                d.ph = d.pw = d.dh = d.dw = 0;
            }
            vec x = vec_integers(dtype, d.mb * d.ic * d.ih * d.iw, 7, -3, 3);
            vec dy = vec_integers(dtype, d.mb * d.ic * d.oh * d.ow, 8, -5, 5);
            check_pool_fwd(state, &d, &x);
            check_pool_bwd(state, &d, &x, &dy);
            vec_free(&x);
            vec_free(&dy);
        }
}

/* All values negative: padding must count as minus infinity for the maximum, not as zero; and -inf is a value. */
static void max_pool_of_padding_and_infinity(void **state)
{
    cnn_pool_desc d = {.t = type_of(CNN_F32, CNN_NCHW), .kind = CNN_POOL_MAX};
    d.mb = d.ic = 1, d.ih = d.iw = 2, d.oh = d.ow = 3, d.kh = d.kw = 2, d.sh = d.sw = 1, d.ph = d.pw = 1;
    const float x[4] = {-4, -INFINITY, -2, -INFINITY}, dy[9] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
    const float want_y[9] = {-4, -4, -INFINITY, -2, -2, -INFINITY, -2, -2, -INFINITY};
    const float want_dx[4] = {1 + 2, 4 + 32, 8 + 16 + 64 + 128, 256};
    float y[9], dx[4];
    const cnn_plan plan = pool_plan(&d);
    cnn_error err;
    cpu_pool_fwd(CONTEXT(0), &plan, &(cnn_map_fwd_args){.x = x, .y = y}, &err);
    cpu_pool_bwd(CONTEXT(0), &plan, &(cnn_map_bwd_args){.x = x, .y = y, .dy = dy, .dx = dx}, &err);
    assert_memory_equal(y, want_y, sizeof y);
    assert_memory_equal(dx, want_dx, sizeof dx);
}

/* A NaN is its window's maximum, wherever it stands, and the first one takes the gradient. */
static void max_pool_of_nan(void **state)
{
    EACH_TYPE(dtype, layout)
    EACH_CONTEXT(v)
    {
        cnn_pool_desc d = {.t = type_of(dtype, layout), .kind = CNN_POOL_MAX};
        d.mb = 1, d.ic = 1, d.ih = 1, d.iw = 40, d.oh = 1, d.ow = 20, d.kh = 1, d.kw = 2, d.sh = 1, d.sw = 2;
        vec x = vec_integers(dtype, 40, 3, 0, 9), y = vec_new(dtype, 20), dx = vec_new(dtype, 40);
        vec dy = vec_random(dtype, 20, 4, 1, 2);
        vec_set(&x, 6, NAN), vec_set(&x, 11, NAN), vec_set(&x, 20, NAN), vec_set(&x, 21, NAN);
        const cnn_plan plan = pool_plan(&d);
        cnn_error err;
        cpu_pool_fwd(CONTEXT(v), &plan, &(cnn_map_fwd_args){.x = x.data, .y = y.data}, &err);
        cpu_pool_bwd(CONTEXT(v), &plan, &(cnn_map_bwd_args){.x = x.data, .dy = dy.data, .dx = dx.data}, &err);
        for (int q = 0; q < 20; q++) assert_int_equal(!!isnan(vec_get(&y, q)), q == 3 || q == 5 || q == 10);
        assert_true(vec_get(&dx, 6) == vec_get(&dy, 3) && vec_get(&dx, 7) == 0);
        assert_true(vec_get(&dx, 11) == vec_get(&dy, 5) && vec_get(&dx, 10) == 0);
        assert_true(vec_get(&dx, 20) == vec_get(&dy, 10) && vec_get(&dx, 21) == 0);
        vec_free(&x), vec_free(&y), vec_free(&dx), vec_free(&dy);
    }
}

/* Of a pixel's channels some have a NaN or an infinity: all others are what they were without. */
static void max_pool_of_special_channels(void **state)
{
    static const int64_t special[] = {0, 5, 16, 63, 64, 69};
    EACH_TYPE(dtype, layout)
    EACH_CONTEXT(v)
    {
        cnn_pool_desc d = {.t = type_of(dtype, layout), .kind = CNN_POOL_MAX};
        d.mb = 1, d.ic = 70, d.ih = d.iw = 3, d.oh = d.ow = 1, d.kh = d.kw = 3, d.sh = d.sw = 1;
        vec x = vec_integers(dtype, 70 * 9, 3, -9, 9), y = vec_new(dtype, 70);
        const double value[] = {NAN, INFINITY, -INFINITY, NAN, INFINITY, NAN};
        for (int i = 0; i < 6; i++) vec_set(&x, cnn_offset(layout, 70, 3, 3, 0, special[i], 2, i % 3), value[i]);
        const cnn_plan plan = pool_plan(&d);
        cnn_error err;
        cpu_pool_fwd(CONTEXT(v), &plan, &(cnn_map_fwd_args){.x = x.data, .y = y.data}, &err);
        for (int64_t c = 0; c < 70; c++) {
            const double got = vec_get(&y, c);
            if (c == 0 || c == 63 || c == 69)
                assert_true(isnan(got));
            else
                assert_true(got == look(&d, &x, 0, c, 0, 0).max);
        }
        vec_free(&x), vec_free(&y);
    }
}

/* A NaN or an infinity in one row of an image: all outputs are what they are by the definition, those of NaNs NaNs. */
static void max_pool_of_a_special_row(void **state)
{
    EACH_TYPE(dtype, layout)
    EACH_CONTEXT(v)
    for (int64_t stride = 1; stride <= 3; stride++) {
        cnn_pool_desc d = {.t = type_of(dtype, layout), .kind = CNN_POOL_MAX, .mb = 1, .ic = 2, .ih = 31, .iw = 31};
        d.kh = d.kw = 3, d.ph = d.pw = 1, d.sh = d.sw = stride, d.oh = d.ow = 30 / stride + 1;
        vec x = vec_integers(dtype, 2 * 31 * 31, 3, -9, 9), y = vec_new(dtype, 2 * d.oh * d.ow);
        vec_set(&x, cnn_offset(layout, 2, 31, 31, 0, 1, 13, 30), NAN);
        vec_set(&x, cnn_offset(layout, 2, 31, 31, 0, 1, 20, 0), INFINITY);
        vec_set(&x, cnn_offset(layout, 2, 31, 31, 0, 0, 30, 30), -INFINITY);
        const cnn_plan plan = pool_plan(&d);
        cnn_error err;
        cpu_pool_fwd(CONTEXT(v), &plan, &(cnn_map_fwd_args){.x = x.data, .y = y.data}, &err);
        for (int64_t i = 0; i < y.count; i++) {
            const int64_t c = i / (d.oh * d.ow), p = i / d.ow % d.oh, q = i % d.ow;
            const double got = vec_get(&y, cnn_offset(layout, 2, d.oh, d.ow, 0, c, p, q));
            const int64_t top = p * stride - 1, left = q * stride - 1;
            if (c == 1 && top <= 13 && top + 3 > 13 && left + 3 > 30)
                assert_true(isnan(got));
            else
                assert_true(got == look(&d, &x, 0, c, p, q).max);
        }
        vec_free(&x), vec_free(&y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_agrees_with_the_definition),
        cmocka_unit_test(max_pool_of_padding_and_infinity),
        cmocka_unit_test(max_pool_of_nan),
        cmocka_unit_test(max_pool_of_special_channels),
        cmocka_unit_test(max_pool_of_a_special_row),
    };
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}
