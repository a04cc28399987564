/* test_cpu_fc.c: impl_cpu's fully connected layers against the defining sums, in integers, which must be exact. */
#include "harness/base/rng.h"
#include "harness/cnn.h"
#include "harness/problem/shape.h"
#include "tests/unit.h"

#include <stdlib.h>

const cnn_impl *cnn_impl_cpu(void);

enum { KNOBS_MAX = 16 };
static int64_t knobs[KNOBS_MAX]; /* of all requests since open_cpu(): as they are by default */

typedef struct tensor {
    double *values; /* in the order of the weights */
    void *memory;
    int64_t count;
} tensor;

/* Memory is NCHW, or NHWC of ic channels where ic > 0. */
static int64_t place(int64_t i, int64_t ic, int64_t pixels)
{
    if (ic == 0) return i;
    const int64_t image = i / (ic * pixels), c = i / pixels % ic, p = i % pixels;
    return (image * pixels + p) * ic + c;
}

static tensor make(const cnn_fc_desc *d, int64_t count, bool image, bool poison, bool reals, uint64_t seed)
{
    tensor t = {calloc((size_t)count, sizeof(double)), NULL, count};
    assert_int_equal(posix_memalign(&t.memory, CNN_ALIGN, (size_t)count * sizeof(double)), 0);
    cnn_rng rng = rng_stream(seed, 1);
    for (int64_t i = 0; i < count; i++) {
        const double v = reals ? rng_real(&rng, -1, 1) : (double)rng_int(&rng, -3, 3);
        const int64_t at = place(i, image && d->t.layout == CNN_NHWC ? d->ic : 0, d->ih * d->iw);
        if (!poison) t.values[i] = v;
        if (d->t.dtype == CNN_F32)
            ((float *)t.memory)[at] = poison ? (float)NAN : (float)v;
        else
            ((double *)t.memory)[at] = poison ? NAN : v;
    }
    return t;
}

static void expect(const cnn_fc_desc *d, const char *what, const tensor *t, bool image)
{
    for (int64_t i = 0; i < t->count; i++) {
        const int64_t at = place(i, image && d->t.layout == CNN_NHWC ? d->ic : 0, d->ih * d->iw);
        const double got = d->t.dtype == CNN_F32 ? (double)((float *)t->memory)[at] : ((double *)t->memory)[at];
        if (!(got == t->values[i]))
            fail_msg("mb%lldic%lldih%lldiw%lldoc%lld layout %d: %s[%lld] is %g, not %g", (long long)d->mb,
                     (long long)d->ic, (long long)d->ih, (long long)d->iw, (long long)d->oc, (int)d->t.layout, what,
                     (long long)i, got, t->values[i]);
    }
}

/* x, w, b, y, dy, dx, dw, db of one layer; the outputs poisoned where beta is 0. */
typedef struct layer {
    cnn_problem p;
    double beta;
    tensor x, w, b, y, dy, dx, dw, db;
} layer;

static layer make_layer(cnn_fc_desc d, double beta, bool reals)
{
    layer l = {.p = {.op = CNN_OP_FC}, .beta = beta};
    const int64_t fan = d.ic * d.ih * d.iw;
    const bool poison = beta == 0;
    l.p.u.fc = d;
    l.x = make(&d, d.mb * fan, true, false, reals, 1), l.w = make(&d, d.oc * fan, false, false, reals, 2);
    l.b = make(&d, d.oc, false, false, reals, 3), l.y = make(&d, d.mb * d.oc, false, poison, reals, 4);
    l.dy = make(&d, d.mb * d.oc, false, false, reals, 5), l.dx = make(&d, d.mb * fan, true, poison, reals, 6);
    l.dw = make(&d, d.oc * fan, false, poison, reals, 7), l.db = make(&d, d.oc, false, poison, reals, 8);
    return l;
}

static void free_layer(layer *l)
{
    tensor *all[] = {&l->x, &l->w, &l->b, &l->y, &l->dy, &l->dx, &l->dw, &l->db};
    for (int i = 0; i < 8; i++) free(all[i]->values), free(all[i]->memory);
}

/* All three directions. */
static void run(cnn_context *context, const cnn_algorithm *algorithm, layer *l)
{
    const cnn_impl *cpu = cnn_impl_cpu();
    const bool bias = l->p.u.fc.bias;
    for (int dir = 0; dir < CNN_DIR_COUNT; dir++) {
        const cnn_request request = {&l->p, (cnn_dir)dir, algorithm, knobs};
        cnn_plan plan = {.problem = l->p, .dir = request.dir, .algorithm = *algorithm, .knobs = knobs};
        cnn_error err;
        assert_int_equal(cpu->supports(context, &request, &err), CNN_OK);
        assert_int_equal(cpu->prepare(context, &plan, &err), CNN_OK);
        void *workspace = NULL;
        assert_int_equal(posix_memalign(&workspace, CNN_ALIGN, plan.workspace_bytes + 1), 0);
        memset(workspace, 0xff, plan.workspace_bytes);
        const cnn_weighted_args args = {.x = l->x.memory,
                                        .w = l->w.memory,
                                        .b = bias ? l->b.memory : NULL,
                                        .dy = l->dy.memory,
                                        .y = l->y.memory,
                                        .dx = l->dx.memory,
                                        .dw = l->dw.memory,
                                        .db = bias ? l->db.memory : NULL,
                                        .beta = l->beta,
                                        .workspace = workspace};
        cnn_status (*const slots[])(cnn_context *, const cnn_plan *, const cnn_weighted_args *,
                                    cnn_error *) = {cpu->ops->fc_fwd, cpu->ops->fc_bwd_data, cpu->ops->fc_bwd_weights};
        assert_int_equal(slots[dir](context, &plan, &args, &err), CNN_OK);
        if (plan.state != NULL) cpu->release(context, &plan);
        free(workspace);
    }
}

static void check(const layer *l)
{
    const cnn_fc_desc *d = &l->p.u.fc;
    const int64_t fan = d->ic * d->ih * d->iw;
    for (int64_t n = 0; n < d->mb; n++)
        for (int64_t k = 0; k < d->oc; k++) {
            if (d->bias) l->y.values[n * d->oc + k] += l->b.values[k];
            if (d->bias) l->db.values[k] += l->dy.values[n * d->oc + k];
            for (int64_t f = 0; f < fan; f++) {
                l->y.values[n * d->oc + k] += l->w.values[k * fan + f] * l->x.values[n * fan + f];
                l->dx.values[n * fan + f] += l->w.values[k * fan + f] * l->dy.values[n * d->oc + k];
                l->dw.values[k * fan + f] += l->x.values[n * fan + f] * l->dy.values[n * d->oc + k];
            }
        }
    expect(d, "y", &l->y, false);
    expect(d, "dx", &l->dx, true);
    expect(d, "dw", &l->dw, false);
    if (d->bias) expect(d, "db", &l->db, false);
}

static cnn_context *open_cpu(int threads)
{
    const cnn_impl *cpu = cnn_impl_cpu();
    const cnn_open_params params = {threads, 0, knobs, NULL};
    cnn_context *context = NULL;
    cnn_error err;
    assert_true(cpu->n_knobs <= KNOBS_MAX);
    for (int i = 0; i < cpu->n_knobs; i++) knobs[i] = cpu->knobs[i].def;
    assert_int_equal(cpu->open(&params, &context, &err), CNN_OK);
    return context;
}

static const int64_t sizes[][5] = {/* mb, ic, ih, iw, oc */
                                   {1, 1, 1, 1, 1},   {5, 20, 4, 4, 10},   {3, 7, 2, 3, 5}, {1, 64, 3, 3, 200},
                                   {700, 3, 5, 2, 9}, {100, 40, 1, 1, 70}, {2, 1, 9, 8, 33}};

/* Of FC layers in f32 and f64. */
static bool is_tried(const cnn_algorithm *algorithm)
{
    return algorithm->ops & 1u << CNN_OP_FC && strcmp(algorithm->name, "bf16") != 0;
}

static void exact(void **state)
{
    const cnn_impl *cpu = cnn_impl_cpu();
    cnn_context *context = open_cpu(2);
    for (int v = 0; v < 16 * (int)(sizeof sizes / sizeof *sizes); v++)
        for (int a = 0; a < cpu->n_algorithms; a++) {
            const int64_t *s = sizes[v / 16];
            if (!is_tried(&cpu->algorithms[a])) continue;
            layer l = make_layer(
                (cnn_fc_desc){{(cnn_dtype)(v & 1), (cnn_dtype)(v & 1), (cnn_layout)(v >> 1 & 1), CNN_MATH_F32},
                              s[0],
                              s[1],
                              s[2],
                              s[3],
                              s[4],
                              v >> 2 & 1,
                              {0, 0, false},
                              {CNN_ACT_IDENTITY, false, 0.0}},
                v >> 3 & 1, false);
            run(context, &cpu->algorithms[a], &l);
            check(&l);
            free_layer(&l);
        }
    cpu->close(context);
}

static void same_bits_for_any_thread_count(void **state)
{
    const cnn_impl *cpu = cnn_impl_cpu();
    for (int a = 0; a < cpu->n_algorithms; a++) {
        if (!is_tried(&cpu->algorithms[a])) continue;
        layer l[3];
        for (int t = 0; t < 3; t++) {
            cnn_context *context = open_cpu(t + 1);
            l[t] = make_layer((cnn_fc_desc){{CNN_F32, CNN_F32, CNN_NHWC, CNN_MATH_F32},
                                            130,
                                            20,
                                            5,
                                            5,
                                            37,
                                            true,
                                            {0, 0, false},
                                            {CNN_ACT_IDENTITY, false, 0.0}},
                              0, true);
            run(context, &cpu->algorithms[a], &l[t]);
            cpu->close(context);
        }
        for (int t = 1; t < 3; t++) {
            assert_memory_equal(l[0].y.memory, l[t].y.memory, (size_t)l[0].y.count * sizeof(float));
            assert_memory_equal(l[0].dx.memory, l[t].dx.memory, (size_t)l[0].dx.count * sizeof(float));
            assert_memory_equal(l[0].dw.memory, l[t].dw.memory, (size_t)l[0].dw.count * sizeof(float));
            assert_memory_equal(l[0].db.memory, l[t].db.memory, (size_t)l[0].db.count * sizeof(float));
        }
        for (int t = 0; t < 3; t++) free_layer(&l[t]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact), cmocka_unit_test(same_bits_for_any_thread_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
