/* test_cpu_train.c: impl_cpu's loss and optimizers against formulas in double, and at the edges. */
#include "cpu_ops.h"

/* ---- Loss ----------------------------------------------------------------------------------------------------------
 */

typedef struct loss_case {
    cnn_plan plan;
    vec x, y, dx;
    int32_t *labels;
    void *workspace;
    double loss_sum;
    int64_t correct;
} loss_case;

static void loss_open(loss_case *t, cnn_dtype dtype, int64_t mb, int64_t classes)
{
    memset(t, 0, sizeof *t);
    t->plan.problem.op = CNN_OP_LOSS;
    t->plan.problem.u.loss = (cnn_loss_desc){.t = type_of(dtype, CNN_NCHW), .mb = mb, .ic = classes};
    t->x = vec_random(dtype, mb * classes, 3, -8, 8);
    t->y = vec_new(dtype, mb * classes);
    t->dx = vec_new(dtype, mb * classes);
    t->labels = malloc((size_t)mb * sizeof *t->labels);
    t->workspace = malloc(cpu_loss_workspace(&t->plan.problem.u.loss, CNN_FWD));
    assert_non_null(t->labels);
    for (int64_t n = 0; n < mb; n++) t->labels[n] = (int32_t)(n % classes);
}

static void loss_close(loss_case *t)
{
    vec_free(&t->x), vec_free(&t->y), vec_free(&t->dx);
    free(t->labels);
    free(t->workspace);
}

/* Forward with both totals starting at 100, then backward with scale 0.25. */
static void loss_run(void **state, loss_case *t)
{
    cnn_error err;
    double first_sum = 0;
    EACH_CONTEXT(v)
    {
        t->loss_sum = 100;
        t->correct = 100;
        vec_poison(&t->y), vec_poison(&t->dx);
        const cnn_loss_args args = {.x = t->x.data,
                                    .labels = t->labels,
                                    .y = t->y.data,
                                    .dx = t->dx.data,
                                    .loss_sum = &t->loss_sum,
                                    .correct = &t->correct,
                                    .scale = 0.25,
                                    .workspace = t->workspace};
        assert_int_equal(cpu_loss_fwd(CONTEXT(v), &t->plan, &args, &err), CNN_OK);
        assert_int_equal(cpu_loss_bwd(CONTEXT(v), &t->plan, &args, &err), CNN_OK);
        vec_same_bits(&t->y, v), vec_same_bits(&t->dx, v);
        if (v == 0) first_sum = t->loss_sum;
        assert_memory_equal(&first_sum, &t->loss_sum, sizeof first_sum);
    }
}

static void check_loss(const loss_case *t)
{
    const int64_t mb = t->plan.problem.u.loss.mb, classes = t->plan.problem.u.loss.ic;
    double loss = 100;
    int64_t correct = 100;
    for (int64_t n = 0; n < mb; n++) {
        double max = -INFINITY, sum = 0;
        int64_t best = 0;
        for (int64_t c = 0; c < classes; c++) {
            if (vec_get(&t->x, n * classes + c) > max) {
                max = vec_get(&t->x, n * classes + c);
                best = c;
            }
        }
        for (int64_t c = 0; c < classes; c++) sum += exp(vec_get(&t->x, n * classes + c) - max);
        for (int64_t c = 0; c < classes; c++) {
            const double p = exp(vec_get(&t->x, n * classes + c) - max) / sum, hit = c == t->labels[n];
            assert_near(&t->y, n * classes + c, p, p + 1e-40, 4);
            assert_near(&t->dx, n * classes + c, 0.25 * (p - hit), 0.25, 6);
        }
        loss += log(sum) + max - vec_get(&t->x, n * classes + t->labels[n]);
        correct += best == t->labels[n];
    }
    assert_true(fabs(t->loss_sum - loss) <= 1e-12 * loss);
    assert_int_equal(t->correct, correct);
}

static void loss_agrees_with_its_formula(void **state)
{
    static const int64_t sizes[][2] = {{5, 10}, {5000, 10}, {1, 1}, {7, 1000}, {100, 2}};
    for (cnn_dtype dtype = CNN_F32; dtype <= CNN_F64; dtype++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            loss_case t;
            loss_open(&t, dtype, sizes[i][0], sizes[i][1]);
            loss_run(state, &t);
            check_loss(&t);
            loss_close(&t);
        }
    }
}

/* Rows of 4: certain and right, certain and wrong, all equal (label first, then last), two largest. */
static void loss_at_the_edges(void **state)
{
    static const double x[6][4] = {{1000, -1000, -1000, -1000},
                                   {1000, -1000, -1000, -1000},
                                   {3, 3, 3, 3},
                                   {-1000, -1000, -1000, -1000},
                                   {0, 2, 2, 0},
                                   {0, 2, 2, 0}};
    static const int32_t labels[6] = {0, 3, 0, 3, 1, 2};
    for (cnn_dtype dtype = CNN_F32; dtype <= CNN_F64; dtype++) {
        loss_case t;
        loss_open(&t, dtype, 6, 4);
        for (int i = 0; i < 24; i++) vec_set(&t.x, i, x[i / 4][i % 4]);
        memcpy(t.labels, labels, sizeof labels);
        loss_run(state, &t);
        check_loss(&t);
        const double two = log(2 + 2 * exp(-2.0));
        assert_true(fabs(t.loss_sum - (100 + 0 + 2000 + log(4.0) + log(4.0) + two + two)) <= 1e-9);
        assert_int_equal(t.correct, 100 + 3); /* right; all equal with label 0; the first of the two largest */
        assert_true(vec_get(&t.y, 0) == 1 && vec_get(&t.y, 4 + 3) == 0 && vec_get(&t.y, 8) == 0.25);
        assert_true(vec_get(&t.dx, 4 + 3) == -0.25 && vec_get(&t.dx, 4) == 0.25 && vec_get(&t.dx, 0) == 0);
        loss_close(&t);
    }
}

/* A diverged network must show: a NaN logit makes the loss NaN and is nobody's right answer. Totals may be left out. */
static void loss_of_nan_and_without_totals(void **state)
{
    for (int at = 0; at < 3; at++) {
        loss_case t;
        cnn_error err;
        loss_open(&t, CNN_F32, 1, 3);
        vec_set(&t.x, at, NAN);
        t.labels[0] = 0;
        loss_run(state, &t);
        assert_true(isnan(t.loss_sum) && isnan(vec_get(&t.y, 0)));
        assert_int_equal(t.correct, 100);
        const cnn_loss_args args = {.x = t.x.data, .labels = t.labels, .y = t.y.data, .workspace = t.workspace};
        assert_int_equal(cpu_loss_fwd(CONTEXT(0), &t.plan, &args, &err), CNN_OK);
        loss_close(&t);
    }
}

/* ---- Optimizers ----------------------------------------------------------------------------------------------------
 */

static cnn_plan optimizer_plan(cnn_dtype dtype, cnn_optimizer_kind kind, int64_t count)
{
    cnn_plan plan = {.problem.op = CNN_OP_OPTIMIZER};
    plan.problem.u.optimizer = (cnn_optimizer_desc){.t = type_of(dtype, CNN_NCHW),
                                                    .kind = kind,
                                                    .count = count,
                                                    .lr = 0.01,
                                                    .beta1 = 0.9,
                                                    .beta2 = 0.999,
                                                    .eps = 1e-8,
                                                    .l1 = 1e-3,
                                                    .l2 = 1e-2};
    return plan;
}

/* One parameter's update as cnn.h writes it. */
static void update_one(const cnn_optimizer_desc *d, double grad, double t, double *w, double *s0, double *s1)
{
    const double g = grad + d->l1 * (*w > 0 ? 1 : *w < 0 ? -1 : 0) + d->l2 * *w;
    switch (d->kind) {
    case CNN_MOMENTUM:
        *s0 = d->beta1 * *s0 - d->lr * g;
        *w += *s0;
        break;
    case CNN_ADAGRAD:
        *s0 += g * g;
        *w -= d->lr * g / (sqrt(*s0) + d->eps);
        break;
    case CNN_RMSPROP:
        *s0 = d->beta2 * *s0 + (1 - d->beta2) * g * g;
        *w -= d->lr * g / (sqrt(*s0) + d->eps);
        break;
    case CNN_ADAM:
        *s0 = d->beta1 * *s0 + (1 - d->beta1) * g;
        *s1 = d->beta2 * *s1 + (1 - d->beta2) * g * g;
        *w -= d->lr * (*s0 / (1 - pow(d->beta1, t + 1))) / (sqrt(*s1 / (1 - pow(d->beta2, t + 1))) + d->eps);
        break;
    case CNN_NADAM: {
        const double now = 1 - pow(d->beta1, t + 1), next = 1 - pow(d->beta1, t + 2);
        *s0 = d->beta1 * *s0 + (1 - d->beta1) * g;
        *s1 = d->beta2 * *s1 + (1 - d->beta2) * g * g;
        *w -= d->lr * (d->beta1 * *s0 / next + (1 - d->beta1) * g / now) /
              (sqrt(*s1 / (1 - pow(d->beta2, t + 1))) + d->eps);
        break;
    }
    default:
        *w -= d->lr * g;
    }
}

/* Each step is judged by itself: the reference starts from the state that the kernel left. */
static void check_steps(cnn_context *context, const cnn_plan *plan, vec *w, vec *s0, vec *s1)
{
    const cnn_optimizer_desc *d = &plan->problem.u.optimizer;
    double *want = malloc(3 * (size_t)d->count * sizeof *want);
    int64_t step = 0;
    cnn_error err;
    assert_non_null(want);
    memset(s0->data, 0, s0->bytes);
    memset(s1->data, 0, s1->bytes);
    for (int round = 0; round < 3; round++) {
        vec grad = vec_random(d->t.dtype, d->count, 20 + (uint64_t)round, -1, 1);
        for (int64_t i = 0; i < d->count; i++) {
            double *v = want + 3 * i;
            v[0] = vec_get(w, i), v[1] = vec_get(s0, i), v[2] = vec_get(s1, i);
            update_one(d, vec_get(&grad, i), round, &v[0], &v[1], &v[2]);
        }
        const cnn_optimizer_args args = {w->data, grad.data, {s0->data, s1->data}, &step, NULL, NULL};
        assert_int_equal(cpu_optimizer_step(context, plan, &args, &err), CNN_OK);
        assert_int_equal(step, round + 1);
        for (int64_t i = 0; i < d->count; i++) {
            assert_near(w, i, want[3 * i], 1, 8);
            assert_near(s0, i, want[3 * i + 1], 1 + fabs(want[3 * i + 1]), 8);
            assert_near(s1, i, want[3 * i + 2], 0.01, 8);
        }
        vec_free(&grad);
    }
    free(want);
}

static void optimizers_agree_with_their_equations(void **state)
{
    enum { COUNT = 18010 };
    for (cnn_dtype dtype = CNN_F32; dtype <= CNN_F64; dtype++) {
        for (cnn_optimizer_kind kind = 0; kind < CNN_OPTIMIZER_COUNT; kind++) {
            const cnn_plan plan = optimizer_plan(dtype, kind, COUNT);
            vec w = vec_new(dtype, COUNT), s0 = vec_new(dtype, COUNT), s1 = vec_new(dtype, COUNT);
            EACH_CONTEXT(v)
            {
                vec start = vec_random(dtype, COUNT, 1, -1, 1);
                vec_set(&start, 17, 0); /* sign(0) = 0 */
                memcpy(w.data, start.data, w.bytes);
                check_steps(CONTEXT(v), &plan, &w, &s0, &s1);
                vec_same_bits(&w, v), vec_same_bits(&s0, v), vec_same_bits(&s1, v);
                vec_free(&start);
            }
            vec_free(&w), vec_free(&s0), vec_free(&s1);
        }
    }
}

/* Equations 3.16 to 3.21 by hand, lr 0.1, no decay. Step 0 with gradient 2: m = 0.2, s = 0.004; corrected 2 and 4; w
 * falls by 0.1 * 2 / 2. Step 1 with gradient -1: m = 0.08, s = 0.004996; divided by 0.19 and 0.001999. */
static void adam_by_hand(void **state)
{
    cnn_plan plan = optimizer_plan(CNN_F64, CNN_ADAM, 1);
    cnn_optimizer_desc *d = &plan.problem.u.optimizer;
    d->lr = 0.1, d->l1 = d->l2 = d->eps = 0;
    double w = 1, grad = 2, m = 0, s = 0;
    int64_t step = 0;
    cnn_error err;
    const cnn_optimizer_args args = {&w, &grad, {&m, &s}, &step, NULL, NULL};
    cpu_optimizer_step(CONTEXT(0), &plan, &args, &err);
    assert_true(fabs(w - 0.9) < 1e-14 && fabs(m - 0.2) < 1e-15 && fabs(s - 0.004) < 1e-15);
    grad = -1;
    cpu_optimizer_step(CONTEXT(0), &plan, &args, &err);
    assert_true(fabs(m - 0.08) < 1e-15 && fabs(s - 0.004996) < 1e-15);
    assert_true(fabs(w - (0.9 - 0.1 * (0.08 / 0.19) / sqrt(0.004996 / 0.001999))) < 1e-14);
    assert_int_equal(step, 2);
}

/* Dozat's update by hand, lr 0.1. Step 0 with gradient 2: m = 0.2, s = 0.004, corrected 4; the mean looks ahead:
 * 0.9 * 0.2 / 0.19 + 0.1 * 2 / 0.1. Step 1 with gradient -1: m = 0.08, s = 0.004996, corrected by 0.001999. */
static void nadam_by_hand(void **state)
{
    cnn_plan plan = optimizer_plan(CNN_F64, CNN_NADAM, 1);
    cnn_optimizer_desc *d = &plan.problem.u.optimizer;
    d->lr = 0.1, d->l1 = d->l2 = d->eps = 0;
    double w = 1, grad = 2, m = 0, s = 0;
    int64_t step = 0;
    cnn_error err;
    const cnn_optimizer_args args = {&w, &grad, {&m, &s}, &step, NULL, NULL};
    cpu_optimizer_step(CONTEXT(0), &plan, &args, &err);
    const double first = 1 - 0.1 * (0.18 / 0.19 + 2) / 2;
    assert_true(fabs(w - first) < 1e-14 && fabs(m - 0.2) < 1e-15 && fabs(s - 0.004) < 1e-15);
    grad = -1;
    cpu_optimizer_step(CONTEXT(0), &plan, &args, &err);
    assert_true(fabs(w - (first - 0.1 * (0.072 / 0.271 - 0.1 / 0.19) / sqrt(0.004996 / 0.001999))) < 1e-14);
}

/* Gaps in the parameter vector are zero and have no gradient: an update must leave them zero, not 0/0. */
static void zero_gradient_moves_nothing(void **state)
{
    for (cnn_optimizer_kind kind = 0; kind < CNN_OPTIMIZER_COUNT; kind++) {
        const cnn_plan plan = optimizer_plan(CNN_F32, kind, 40);
        float w[40] = {0}, grad[40] = {0}, m[40] = {0}, s[40] = {0};
        int64_t step = 0;
        cnn_error err;
        const cnn_optimizer_args args = {w, grad, {m, s}, &step, NULL, NULL};
        cpu_optimizer_step(CONTEXT(0), &plan, &args, &err);
        for (int i = 0; i < 40; i++) assert_true(w[i] == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loss_agrees_with_its_formula),
        cmocka_unit_test(loss_at_the_edges),
        cmocka_unit_test(loss_of_nan_and_without_totals),
        cmocka_unit_test(optimizers_agree_with_their_equations),
        cmocka_unit_test(adam_by_hand),
        cmocka_unit_test(nadam_by_hand),
        cmocka_unit_test(zero_gradient_moves_nothing),
    };
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}
