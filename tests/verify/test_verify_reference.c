/* The reference against the formula of cnn.h taken literally: every output, every tap, asked one by one. */
#include "tests/problem_unit.h"

#include "harness/base/rng.h"
#include "verify/engine.h"
#include "verify/oracle/element.h"

#include <math.h>

/* One product of the definition: calls for every (output, input, weight) triple that takes part. */
typedef void each_product(void *user, int64_t y, int64_t x, int64_t w);

static void for_each_product(const cnn_conv_desc *d, each_product *each, void *user)
{
    int64_t icg = d->ic / d->g, ocg = d->oc / d->g;
    for (int64_t n = 0; n < d->mb; n++)
        for (int64_t k = 0; k < d->oc; k++)
            for (int64_t p = 0; p < d->oh; p++)
                for (int64_t q = 0; q < d->ow; q++)
                    for (int64_t c = 0; c < icg; c++)
                        for (int64_t i = 0; i < d->kh; i++)
                            for (int64_t j = 0; j < d->kw; j++) {
                                int64_t h = p * d->sh + i * (d->dh + 1) - d->ph,
                                        v = q * d->sw + j * (d->dw + 1) - d->pw;
                                int64_t a = d->flip ? d->kh - 1 - i : i, b = d->flip ? d->kw - 1 - j : j;
                                if (h < 0 || h >= d->ih || v < 0 || v >= d->iw) continue;
                                each(user, ((n * d->oc + k) * d->oh + p) * d->ow + q,
                                     ((n * d->ic + k / ocg * icg + c) * d->ih + h) * d->iw + v,
                                     ((k * icg + c) * d->kh + a) * d->kw + b);
                            }
}

typedef struct sums {
    const double *x, *w, *dy;
    double *value, *magnitude, *taps;
    cnn_dir dir;
} sums;

static void add_product(void *user, int64_t y, int64_t x, int64_t w)
{
    sums *s = user;
    int64_t e = s->dir == CNN_FWD ? y : s->dir == CNN_BWD_D ? x : w;
    double product = s->dir == CNN_FWD     ? s->x[x] * s->w[w]
                     : s->dir == CNN_BWD_D ? s->dy[y] * s->w[w]
                                           : s->x[x] * s->dy[y];
    s->value[e] += product;
    s->magnitude[e] += fabs(product);
    s->taps[e] += 1.0;
}

static void compare(const char *text, const vf_case *c, const char *output)
{
    enum { MAX = 100000 };
    static double value[MAX], magnitude[MAX], taps[MAX];
    int k = vf_index(c->call.operands, c->call.count, output);
    int64_t count = c->call.operands[k].count;
    const double *b = vf_in(&c->call, "b");
    assert_true(count <= MAX);
    memset(value, 0, sizeof value), memset(magnitude, 0, sizeof magnitude), memset(taps, 0, sizeof taps);
    const int64_t *dims = c->call.operands[k].dims;
    const vf_call *call = &c->call; /* of a transposed convolution x is what the definition calls y */
    sums s = {vf_factor(call, 'x'),
              vf_factor(call, 'w'),
              vf_factor(call, 'y'),
              value,
              magnitude,
              taps,
              vf_conv_dir(&c->problem, call->dir)};
    for_each_product(&c->problem.u.conv, add_product, &s);
    for (int64_t e = 0; e < count; e++) {
        double bias = b != NULL ? b[e / (dims[2] * dims[3]) % dims[1]] : 0.0, extra = b != NULL;
        if (c->call.beta != 0.0) bias += c->before[k][e], extra += 1.0;
        if (value[e] + bias != c->after[k][e] || taps[e] + extra != c->roundings[k][e])
            fail_msg("%s %s[%lld]: %g, by definition %g; %g roundings, by definition %g", text, output, (long long)e,
                     c->after[k][e], value[e] + bias, c->roundings[k][e], taps[e] + extra);
        assert_true(c->magnitude[k][e] >= magnitude[e]);
    }
}

/* Integers: so the two agree to the last bit. */
static void convolution_is_the_definition(void **state)
{
    static const char *const result[] = {"y", "dx", "dw"};
    cnn_error err = {.message = ""};
    for (int flip = 0; flip < 2; flip++)
        for (const verify_default *d = verify_defaults; d->text != NULL; d++)
            for (int dir = 0; (d->op == CNN_OP_CONV || d->op == CNN_OP_DECONV) && dir < CNN_DIR_COUNT; dir++)
                for (int variant = 0; variant < 2; variant++) {
                    const char *text = d->text;
                    const cnn_problem_defaults defaults = {.type = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32},
                                                           .flip = flip};
                    const cnn_problem p = problem_with(d->op, text, &defaults);
                    vf_case c;
                    if (cnn_flops(&p, CNN_FWD) > 2e6) continue;
                    assert_int_equal(vf_case_make(&c, &p, (cnn_dir)dir, VF_INTEGERS, variant, 5, NULL, &err), CNN_OK);
                    compare(text, &c, result[dir]);
                    vf_case_free(&c);
                }
}

/* Strides about as long as the image, and beyond it: their walk over the pixels must end, too. */
static void strides_past_the_image(void **state)
{
    static const char *const text[] = {"mb2ic2ih7iw4oc3kh3kw3sh4sw3ph1pw1", "ic2ih5oc2kh3sh5ph2",
                                       "ic3ih6iw1oc2kh3kw1sh2sw7ph1pw0", "mb1ic1ih5oc1oh3kh3sh2147483647ph0"};
    cnn_error err = {.message = ""};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        const cnn_problem p = problem_of(CNN_OP_CONV, text[i], CNN_F32, CNN_NCHW);
        vf_case c;
        assert_int_equal(vf_case_make(&c, &p, CNN_BWD_D, VF_INTEGERS, 0, 5, NULL, &err), CNN_OK);
        compare(text[i], &c, "dx");
        vf_case_free(&c);
    }
}

/* Thread counts do not change the reference. */
static void threads_change_nothing(void **state)
{
    const cnn_problem p = problem_of(CNN_OP_CONV, "mb3ic7ih13oc5kh3ph1", CNN_F32, CNN_NCHW);
    thread_pool *pool;
    cnn_error err = {.message = ""};
    vf_case a, b;
    assert_int_equal(thread_pool_open(3, &pool, &err), CNN_OK);
    for (int dir = 0; dir < CNN_DIR_COUNT; dir++) {
        assert_int_equal(vf_case_make(&a, &p, (cnn_dir)dir, VF_REALS, 0, 5, NULL, &err), CNN_OK);
        assert_int_equal(vf_case_make(&b, &p, (cnn_dir)dir, VF_REALS, 0, 5, pool, &err), CNN_OK);
        for (int i = 0; i < a.call.count; i++)
            if (a.after[i] != NULL)
                assert_memory_equal(a.after[i], b.after[i], (size_t)a.call.operands[i].count * sizeof(double));
        vf_case_free(&a);
        vf_case_free(&b);
    }
    thread_pool_close(pool);
}

static void run(cnn_op op, const char *text, cnn_dir dir, const double *const *in, double *const *out)
{
    const cnn_problem p = problem_of(op, text, CNN_F64, CNN_NCHW);
    cnn_error err = {.message = ""};
    vf_call call;
    assert_int_equal(vf_call_init(&call, &p, dir, NULL, &err), CNN_OK);
    for (int i = 0; i < call.count; i++) call.in[i] = in[i], call.out[i].value = out[i];
    vf_reference(&call);
}

static void assert_near(double a, double b) { assert_true(fabs(a - b) <= 1e-14 * (1.0 + fabs(b))); }

/* Worked by hand. */
static void small_examples(void **state)
{
    double x[9] = {1, 5, 5, 2, 5, 0, -1, -2, -3}, y[4], dy[4] = {1, 2, 3, 4}, dx[9];
    run(CNN_OP_POOL, "max:mb1ic1ih3kh2", CNN_FWD, (const double *[]){x, NULL}, (double *[]){NULL, y});
    assert_near(y[0], 5), assert_near(y[2], 5), assert_near(y[3], 5);
    run(CNN_OP_POOL, "max:mb1ic1ih3kh2", CNN_BWD_D, (const double *[]){x, y, dy, NULL},
        (double *[]){NULL, NULL, NULL, dx});
    assert_near(dx[1], 3), assert_near(dx[4], 7), assert_near(dx[2], 0); /* ties: the first one */
    run(CNN_OP_POOL, "avg:mb1ic1ih3kh3sh3ph1oh2", CNN_FWD, (const double *[]){x, NULL}, (double *[]){NULL, y});
    assert_near(y[0], 13.0 / 4.0), assert_near(y[3], -3.0);
    run(CNN_OP_POOL, "avg_pad:mb1ic1ih3kh3sh3ph1oh2", CNN_FWD, (const double *[]){x, NULL}, (double *[]){NULL, y});
    assert_near(y[0], 13.0 / 9.0);

    const double small[4] = {0, 1, 2, 3}, kernel[4] = {0, 1, 2, 3}, none = 0, turned[9] = {0, 0, 1, 0, 4, 6, 4, 12, 9};
    run(CNN_OP_DECONV, "mb1ic1ih2oc1kh2", CNN_FWD, (const double *[]){small, kernel, &none, NULL},
        (double *[]){NULL, NULL, NULL, dx});
    for (int i = 0; i < 9; i++) assert_near(dx[i], turned[i]); /* each pixel times the kernel, laid over each other */

    double logits[2] = {1000.0, 1000.0 + log(3.0)}, label = 0.0, loss0 = 1.0, hits0 = 2.0, p[2], loss, hits;
    run(CNN_OP_LOSS, "mb1ic2", CNN_FWD, (const double *[]){logits, &label, NULL, &loss0, &hits0},
        (double *[]){NULL, NULL, p, &loss, &hits});
    assert_true(fabs(p[0] - 0.25) < 1e-12 && fabs(loss - 1.0 - log(4.0)) < 1e-12 && hits == 2.0);

    double w = 0.5, g = 0.1, m0 = 0.0, v0 = 0.0, t = 0.0, w1, m1, v1, t1;
    run(CNN_OP_OPTIMIZER, "adam,lr=0.001,beta1=0.9,beta2=0.999,eps=0.00000001:ic1", CNN_FWD,
        (const double *[]){&w, &g, &m0, &v0, &t}, (double *[]){&w1, NULL, &m1, &v1, &t1});
    assert_near(m1, 0.01), assert_near(v1, 1e-5), assert_near(t1, 1.0);
    assert_near(w1, 0.5 - 0.001 * 0.1 / (0.1 + 1e-8)); /* the first step of Adam has the size of the rate */
}

/* The sum over many images is as good as one rounding: Neumaier's sum (1974) of the same losses. */
static void a_sum_over_many_images(void **state)
{
    enum { IMAGES = 65522 };
    static double x[IMAGES], labels[IMAGES], y[IMAGES];
    const double none = 0.0;
    double sum = 0.0, lost = 0.0, loss, hits;
    cnn_rng rng = rng_stream(5, 0);
    for (int n = 0; n < IMAGES; n++) {
        x[n] = rng_real(&rng, -20.0, 20.0);
        const double term = (x[n] - 1.0) * (x[n] - 1.0) / 2.0, next = sum + term;
        lost += sum >= term ? sum - next + term : term - next + sum;
        sum = next;
    }
    run(CNN_OP_LOSS, "quadratic:mb65522ic1", CNN_FWD, (const double *[]){x, labels, NULL, &none, &none},
        (double *[]){NULL, NULL, y, &loss, &hits});
    assert_true(fabs(sum - (sum + lost)) > 0x1p-50 * sum); /* added up in double it is off by more */
    assert_true(fabs(loss - (sum + lost)) <= 0x1p-52 * sum);
    assert_true(hits == IMAGES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolution_is_the_definition), cmocka_unit_test(strides_past_the_image),
        cmocka_unit_test(threads_change_nothing),        cmocka_unit_test(small_examples),
        cmocka_unit_test(a_sum_over_many_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
