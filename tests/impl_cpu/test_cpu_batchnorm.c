/* test_cpu_batchnorm.c: impl_cpu's batch normalisation against its formulas; the sums in long double, as x is far from
 * zero and so the reference must be better than what it judges. */
#include "cpu_ops.h"

typedef struct norm_case {
    cnn_batchnorm_desc d;
    vec x, dy, gamma, beta, mean, var, y, dx, dgamma, dbeta, save_mean, save_invstd;
    vec *all[12];
} norm_case;

static const cnn_batchnorm_desc norm_shapes[] = {
    {.mb = 4, .ic = 3, .ih = 5, .iw = 7},  {.mb = 9, .ic = 20, .ih = 16, .iw = 16},
    {.mb = 2, .ic = 33, .ih = 1, .iw = 1}, {.mb = 1, .ic = 16, .ih = 1, .iw = 1},
    {.mb = 1, .ic = 1, .ih = 6, .iw = 3},
};
enum { NORM_SHAPES = sizeof norm_shapes / sizeof *norm_shapes };

/* x is far from zero, so that a one-pass variance, or float sums, would show. */
static void norm_open(norm_case *t, int shape, cnn_type type, bool inference)
{
    t->d = norm_shapes[shape];
    t->d.t = type;
    t->d.eps = 1e-5;
    t->d.momentum = 0.1;
    t->d.inference = inference;
    const int64_t count = t->d.mb * t->d.ic * t->d.ih * t->d.iw, ic = t->d.ic;
    t->x = vec_random(type.dtype, count, 1, 1000, 1002);
    t->dy = vec_random(type.dtype, count, 2, -1, 1);
    t->gamma = vec_random(type.dtype, ic, 3, 0.5, 2);
    t->beta = vec_random(type.dtype, ic, 4, -1, 1);
    t->mean = vec_random(type.dtype, ic, 5, 999, 1001);
    t->var = vec_random(type.dtype, ic, 6, 0.1, 1);
    t->y = vec_new(type.dtype, count);
    t->dx = vec_new(type.dtype, count);
    vec *vectors[] = {&t->dgamma, &t->dbeta, &t->save_mean, &t->save_invstd};
    for (int i = 0; i < 4; i++) *vectors[i] = vec_new(type.dtype, ic);
    memcpy(t->mean.first, t->mean.data, t->mean.bytes); /* the values before; restored for every run */
    memcpy(t->var.first, t->var.data, t->var.bytes);
    vec *all[12] = {&t->x, &t->dy, &t->gamma,  &t->beta,  &t->mean,      &t->var,
                    &t->y, &t->dx, &t->dgamma, &t->dbeta, &t->save_mean, &t->save_invstd};
    memcpy(t->all, all, sizeof all);
}

static void norm_close(norm_case *t)
{
    for (int i = 0; i < 12; i++) vec_free(t->all[i]);
}

static cnn_batchnorm_args norm_args(const norm_case *t)
{
    return (cnn_batchnorm_args){.x = t->x.data,
                                .gamma = t->gamma.data,
                                .beta = t->beta.data,
                                .dy = t->dy.data,
                                .y = t->y.data,
                                .dx = t->dx.data,
                                .dgamma = t->dgamma.data,
                                .dbeta = t->dbeta.data,
                                .running_mean = t->mean.data,
                                .running_var = t->var.data,
                                .save_mean = t->save_mean.data,
                                .save_invstd = t->save_invstd.data};
}

/* Runs forward (and backward, in training) in every context. */
static void norm_run(void **state, norm_case *t)
{
    const cnn_problem problem = {.op = CNN_OP_BATCHNORM, .u.batchnorm = t->d};
    const cnn_plan forward = {.problem = problem, .dir = CNN_FWD}, backward = {.problem = problem, .dir = CNN_BWD_D};
    const cnn_batchnorm_args args = norm_args(t);
    vec mean = vec_new(t->d.t.dtype, t->d.ic), var = vec_new(t->d.t.dtype, t->d.ic);
    cnn_error err;
    EACH_CONTEXT(v)
    {
        for (int i = 6; i < 12; i++) vec_poison(t->all[i]);
        memcpy(t->mean.data, t->mean.first, t->mean.bytes);
        memcpy(t->var.data, t->var.first, t->var.bytes);
        assert_int_equal(cpu_batchnorm(CONTEXT(v), &forward, &args, &err), CNN_OK);
        if (!t->d.inference) assert_int_equal(cpu_batchnorm(CONTEXT(v), &backward, &args, &err), CNN_OK);
        for (int i = 6; i < 12; i++) vec_same_bits(t->all[i], v);
        memcpy(mean.data, t->mean.data, mean.bytes);
        memcpy(var.data, t->var.data, var.bytes);
        vec_same_bits(&mean, v);
        vec_same_bits(&var, v);
    }
    vec_free(&mean);
    vec_free(&var);
}

static double before(const vec *v, int64_t i)
{
    const vec old = {v->dtype, v->count, v->bytes, v->first, NULL};
    return vec_get(&old, i);
}

/* Element k of channel c, k counting over n, h, w. */
static int64_t norm_at(const cnn_batchnorm_desc *d, int64_t c, int64_t k)
{
    const int64_t w = k % d->iw, h = k / d->iw % d->ih, n = k / d->iw / d->ih;
    return cnn_offset(d->t.layout, d->ic, d->ih, d->iw, n, c, h, w);
}

/* y, and the gradients. The backward is given the saved statistics, so it is judged with those. */
static void check_norm_elements(const norm_case *t, int64_t c, double mean, double invstd)
{
    const cnn_batchnorm_desc *d = &t->d;
    const int64_t count = d->mb * d->ih * d->iw;
    const double n = (double)count, gamma = vec_get(&t->gamma, c), beta = vec_get(&t->beta, c);
    /* The mean itself is a double: for f64 its rounding shows in x - mean, for f32 it must not. */
    const double scale = 2 + (d->t.dtype == CNN_F64 ? 1 : 0.001) * gamma * invstd * mean;
    double sum = 0, dot = 0;
    const double saved = vec_get(&t->save_mean, c), saved_invstd = vec_get(&t->save_invstd, c);
    for (int64_t k = 0; k < count; k++) {
        const double x = vec_get(&t->x, norm_at(d, c, k)), dy = vec_get(&t->dy, norm_at(d, c, k));
        sum += dy;
        dot += dy * (x - saved) * saved_invstd;
        assert_near(&t->y, norm_at(d, c, k), gamma * (x - mean) * invstd + beta, scale, 16);
    }
    assert_near(&t->dbeta, c, sum, n, 4);
    assert_near(&t->dgamma, c, dot, n * (1 + 1e-3 * saved_invstd), 40);
    for (int64_t k = 0; k < count; k++) {
        const double xhat = (vec_get(&t->x, norm_at(d, c, k)) - saved) * saved_invstd;
        const double want = gamma * saved_invstd * (vec_get(&t->dy, norm_at(d, c, k)) - sum / n - xhat * dot / n);
        assert_near(&t->dx, norm_at(d, c, k), want, gamma * saved_invstd * (3 + xhat * xhat), 40);
    }
}

static void check_norm_channel(const norm_case *t, int64_t c)
{
    const cnn_batchnorm_desc *d = &t->d;
    const int64_t count = d->mb * d->ih * d->iw;
    const double n = (double)count;
    long double total = 0, squares = 0;
    for (int64_t k = 0; k < count; k++) total += (long double)vec_get(&t->x, norm_at(d, c, k));
    const long double exact = total / count;
    for (int64_t k = 0; k < count; k++) {
        const long double off = (long double)vec_get(&t->x, norm_at(d, c, k)) - exact;
        squares += off * off;
    }
    const double mean = (double)exact, var = (double)(squares / count);
    const double unbiased = count > 1 ? var * n / (n - 1) : 0, invstd = 1 / sqrt(var + d->eps);
    const double ulps = 8 + (d->t.dtype == CNN_F64 ? sqrt(n) : 0); /* f64: the roundings of a sum of n terms */
    assert_near(&t->save_mean, c, mean, mean, 3);
    assert_near(&t->save_invstd, c, invstd, invstd, ulps);
    assert_near(&t->mean, c, 0.9 * before(&t->mean, c) + 0.1 * mean, 1000, 6);
    assert_near(&t->var, c, 0.9 * before(&t->var, c) + 0.1 * unbiased, 1, ulps);
    check_norm_elements(t, c, mean, invstd);
}

static void batchnorm_training(void **state)
{
    EACH_TYPE(dtype, layout)
    for (int shape = 0; shape < NORM_SHAPES; shape++) {
        norm_case t;
        norm_open(&t, shape, type_of(dtype, layout), false);
        norm_run(state, &t);
        for (int64_t c = 0; c < t.d.ic; c++) check_norm_channel(&t, c);
        norm_close(&t);
    }
}

static void batchnorm_inference(void **state)
{
    EACH_TYPE(dtype, layout)
    for (int shape = 0; shape < NORM_SHAPES; shape++) {
        norm_case t;
        norm_open(&t, shape, type_of(dtype, layout), true);
        norm_run(state, &t);
        for (int64_t c = 0; c < t.d.ic; c++) {
            assert_true(vec_get(&t.mean, c) == before(&t.mean, c) && vec_get(&t.var, c) == before(&t.var, c));
            const double scale = vec_get(&t.gamma, c) / sqrt(vec_get(&t.var, c) + t.d.eps);
            for (int64_t k = 0; k < t.d.mb * t.d.ih * t.d.iw; k++) {
                const double x = vec_get(&t.x, norm_at(&t.d, c, k));
                const double want = (x - vec_get(&t.mean, c)) * scale + vec_get(&t.beta, c);
                assert_near(&t.y, norm_at(&t.d, c, k), want, 1 + fabs(want), 8);
            }
        }
        norm_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batchnorm_training),
        cmocka_unit_test(batchnorm_inference),
    };
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}
