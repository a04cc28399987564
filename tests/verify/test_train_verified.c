/* test_train_verified.c: a trainer whose steps are not what they should be gets no figure, whatever it does otherwise
 * well; a right one is never accused, on kinks neither, whatever the way its steps are run. */
#include "own_trainer.h"

#include "verify/training/training.h"

#include <math.h>

typedef enum flaw {
    NONE,
    RESTING_BACKWARD, /* of weights: what was there stays */
    HALF_GRADIENT,    /* the second half of the batch counts as the first */
    COARSE_GRADIENT,  /* a hundredth off */
    NO_UPDATE,
    DOUBLE_RATE,
    NO_STATE, /* of the optimizer */
    NO_STEP,  /* counted */
    SMALL_LOSS,
    ALL_RIGHT,
    NO_RUNNING_STATISTICS,
    SAME_MASK,    /* dropout, in every step */
    OTHER_IMAGES, /* once the check of the start is over */
    OTHER_LABELS,
    ONE_GRADIENT_NAN,
    TEST_RIGHT, /* test passes only, from here on */
    TEST_LOSS,
    TEST_PARAMETERS, /* set when the test begins */
    FLAWS
} flaw;

static const struct {
    const char *name, *reason, *later; /* later: where a step behind the first wrong one was drawn */
} expected[FLAWS] = {
    {"none", "", NULL},
    {"resting backward", "the gradient of the weight", NULL},
    {"half gradient", "the gradient of the weight", NULL},
    {"coarse gradient", "the gradient of the weight", NULL},
    {"no update", "an updated parameter", NULL},
    {"double rate", "an updated parameter", NULL},
    {"no state", "the optimizer's state", NULL},
    {"no step", "it is not one update", NULL},
    {"small loss", "the loss", NULL},
    {"all right", "right answers", NULL},
    {"no running statistics", "the running", NULL},
    {"same mask", "the ", NULL},
    {"other images", "the loss", NULL},
    {"other labels", "the loss", NULL},
    {"one gradient NaN", "the gradient of the weight", "off by nan"},
    {"test right", "right answers", NULL},
    {"test loss", "the loss", NULL},
    {"test parameters", "other parameters than training left", "the loss"},
};

static flaw present; /* an implementation has no user data */
static int64_t updates, gathers;
static bool alone; /* in an epoch of train()'s the chance of some steps was met */
static bool tests; /* the loss had no backward since the latest forward */

static bool now(flaw f) { return present == f && updates > 2; }

static cnn_status fc_weights(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_fc_desc *d = &plan->problem.u.fc;
    cnn_weighted_args half = *a;
    cnn_plan first = *plan;
    if (now(RESTING_BACKWARD)) return CNN_OK;
    first.problem.u.fc.mb = now(HALF_GRADIENT) && d->mb > 1 ? d->mb / 2 : d->mb;
    const cnn_status status = cnn_impl_cpu()->ops->fc_bwd_weights(c, &first, &half, err);
    const float by = now(HALF_GRADIENT) ? 2.0f : now(COARSE_GRADIENT) ? 1.01f : 1.0f;
    for (int64_t i = 0; i < d->oc * d->ic * d->ih * d->iw; i++) ((float *)a->dw)[i] *= by;
    if (now(ONE_GRADIENT_NAN)) ((float *)a->dw)[1] = NAN;
    return status;
}

static cnn_status optimizer(cnn_context *c, const cnn_plan *plan, const cnn_optimizer_args *a, cnn_error *err)
{
    cnn_plan other = *plan;
    cnn_optimizer_args args = *a;
    int64_t step = *a->step;
    updates++;
    if (now(NO_UPDATE)) return ++*a->step, CNN_OK;
    if (now(DOUBLE_RATE)) other.problem.u.optimizer.lr *= 2.0;
    if (now(NO_STEP)) args.step = &step;
    float *kept = malloc((size_t)plan->problem.u.optimizer.count * sizeof *kept);
    assert_non_null(kept);
    memcpy(kept, a->state[1], (size_t)plan->problem.u.optimizer.count * sizeof *kept);
    const cnn_status status = cnn_impl_cpu()->ops->optimizer_step(c, &other, &args, err);
    if (now(NO_STATE)) memcpy(a->state[1], kept, (size_t)plan->problem.u.optimizer.count * sizeof *kept);
    free(kept);
    return status;
}

static cnn_status loss_forward(cnn_context *c, const cnn_plan *plan, const cnn_loss_args *a, cnn_error *err)
{
    const double loss = *a->loss_sum;
    const int64_t correct = *a->correct, mb = plan->problem.u.loss.mb;
    const cnn_status status = cnn_impl_cpu()->ops->loss_fwd(c, plan, a, err);
    if (now(SMALL_LOSS) || (now(TEST_LOSS) && tests)) *a->loss_sum = loss + 0.01 * (double)mb;
    if (now(ALL_RIGHT) || (now(TEST_RIGHT) && tests)) *a->correct = correct + mb;
    tests = true;
    return status;
}

static cnn_status loss_backward(cnn_context *c, const cnn_plan *plan, const cnn_loss_args *a, cnn_error *err)
{
    tests = false;
    return cnn_impl_cpu()->ops->loss_bwd(c, plan, a, err);
}

static cnn_status norm_forward(cnn_context *c, const cnn_plan *plan, const cnn_batchnorm_args *a, cnn_error *err)
{
    cnn_batchnorm_args args = *a;
    float mean[8], var[8];
    assert_in_range(plan->problem.u.batchnorm.ic, 1, 8);
    const size_t bytes = (size_t)plan->problem.u.batchnorm.ic * sizeof(float);
    memcpy(mean, a->running_mean, bytes), memcpy(var, a->running_var, bytes);
    if (now(TEST_PARAMETERS) && plan->problem.u.batchnorm.inference)
        ((float *)(uintptr_t)a->gamma)[0] = 3.0f; /* the parameters are the harness's, and can be written */
    const cnn_status status = cnn_impl_cpu()->ops->batchnorm_fwd(c, plan, &args, err);
    if (now(NO_RUNNING_STATISTICS)) memcpy(a->running_mean, mean, bytes), memcpy(a->running_var, var, bytes);
    return status;
}

static cnn_status mask_forward(cnn_context *c, const cnn_plan *plan, const cnn_map_fwd_args *a, cnn_error *err)
{
    static const int64_t first = 0;
    cnn_map_fwd_args args = *a;
    if (now(SAME_MASK)) args.step = &first;
    return cnn_impl_cpu()->ops->dropout_fwd(c, plan, &args, err);
}

static cnn_status mask_backward(cnn_context *c, const cnn_plan *plan, const cnn_map_bwd_args *a, cnn_error *err)
{
    static const int64_t first = 0;
    cnn_map_bwd_args args = *a;
    if (now(SAME_MASK)) args.step = &first;
    return cnn_impl_cpu()->ops->dropout_bwd(c, plan, &args, err);
}

static cnn_status gather(cnn_context *c, const cnn_gather_args *a, cnn_error *err)
{
    const cnn_status status = cnn_impl_cpu()->ops->gather(c, a, err);
    const bool later = ++gathers > 40;
    if (later && present == OTHER_IMAGES) memset(a->y, 0, (size_t)(a->count * a->row_elems) * sizeof(float));
    for (int64_t i = 0; later && present == OTHER_LABELS && i < a->count; i++) a->y_labels[i] = 1;
    return status;
}

static const char net_text[] = "input 1 8 8\nconv 4 kernel=3 stride=2 pad=1\nbatch_norm\nrelu\ndropout 0.2\nfc 10\n"
                               "softmax_cross_entropy\n";

typedef struct set_up {
    const cnn_impl *impl;
    const char *net, *optimizer;
    trainer_params params;
    int64_t batch, train;
    cnn_type type;
} set_up;

/* Epochs until one fails, three at most; the last one's result. */
static verify_training_result train(const set_up *u, uint64_t seed)
{
    cnn_session session = session_of(u->impl);
    dataset data = small_data(u->train, 60, 1, 8, 8);
    cnn_network *n = build_net(u->net, u->type.dtype, u->type.layout, u->batch);
    trainer_params params = u->params;
    trainer *t = NULL;
    trainer_result result;
    verify_training *v = NULL;
    verify_training_result found = {.failed = false};
    params.seed = SEED;
    updates = gathers = 0;
    alone = false;
    OK(cnn_optimizer_parse(u->optimizer, &params.optimizer, err));
    OK(trainer_open(&session, n, &data, &params, &t, err));
    OK(trainer_start(t, err));
    OK(verify_training_open(t, &session, n, &data, &params, &v, err));
    for (int64_t epoch = 0; epoch < 3 && !found.failed; epoch++) {
        const trainer_watch watch = {.samples = verify_training_draw(v, epoch, seed)};
        OK(trainer_epoch(t, epoch, &watch, &result, err));
        OK(verify_training_judge(v, NULL, &found, err));
        alone = alone || strstr(found.steps, " alone") != NULL;
        assert_true(result.seconds > 0.0 && found.seed == seed);
    }
    verify_training_close(v);
    trainer_close(t);
    cnn_net_free(n);
    dataset_free(&data);
    cnn_session_close(&session);
    return found;
}

static cnn_operations flawed(void)
{
    cnn_operations ops = *cnn_impl_cpu()->ops;
    ops.fc_bwd_weights = fc_weights;
    ops.optimizer_step = optimizer;
    ops.loss_fwd = loss_forward, ops.loss_bwd = loss_backward;
    ops.batchnorm_fwd = norm_forward;
    ops.dropout_fwd = mask_forward, ops.dropout_bwd = mask_backward;
    ops.gather = gather;
    return ops;
}

static void each_flaw_is_found(void **state)
{
    const cnn_operations ops = flawed();
    cnn_impl impl = *cnn_impl_cpu();
    impl.ops = &ops;
    for (int f = NONE; f < FLAWS; f++) {
        int first = 0; /* how often the plainest reason was given */
        for (uint64_t seed = 1; seed <= 4; seed++) {
            const set_up u = {.impl = &impl, .net = net_text, .optimizer = "adam,lr=0.01", .batch = 6, .train = 100};
            present = (flaw)f;
            const verify_training_result r = train(&u, seed);
            first += r.failed && strstr(r.reason, expected[f].reason) != NULL;
            const bool named = strstr(r.reason, expected[f].reason) != NULL ||
                               (expected[f].later != NULL && strstr(r.reason, expected[f].later) != NULL);
            if (f == NONE ? r.failed : !r.failed || !named)
                fail_msg("%s, seed %d: %s '%s', expected '%s'", expected[f].name, (int)seed,
                         r.failed ? "failed" : "passed", r.reason, expected[f].reason);
            assert_true(f != NONE || (r.budget_used > 0.0 && r.budget_used <= 1.0));
        }
        if (f != NONE && first == 0) fail_msg("%s: never '%s'", expected[f].name, expected[f].reason);
    }
    present = NONE;
}

/* Steps are drawn anew where no seed is given, and the same for the same seed. */
static void steps_are_drawn(void **state)
{
    const set_up u = {.impl = cnn_impl_cpu(), .net = net_text, .optimizer = "sgd", .batch = 6, .train = 100};
    const verify_training_result a = train(&u, 5), b = train(&u, 5), c = train(&u, 6);
    assert_string_equal(a.steps, b.steps);
    assert_string_not_equal(a.steps, c.steps);
    assert_true(strncmp(a.steps, "train ", 6) == 0 && strstr(a.steps, ", test ") != NULL);
}

/* A look that another one begins in ends there, with what that one begins with; where both begin at once, and where one
 * of them judges nothing, neither ends the other. */
static void looks_end_where_the_next_begins(void **state)
{
    enum { LOOKS = 5 };
    static const struct {
        int64_t wanted, steps;
        int launches;
        bool idle;
    } looks[LOOKS] = {{2, 3, 8, false}, {5, 4, 4, false}, {4, 3, 3, true}, {12, 2, 2, false}, {12, 5, 5, false}};
    cnn_session session = session_of(cnn_impl_cpu());
    dataset data = small_data(100, 60, 1, 8, 8);
    cnn_network *n = build_net(net_text, CNN_F32, CNN_NCHW, 5);
    trainer_params params = {.seed = SEED};
    trainer_sample list[LOOKS] = {{.test = false}};
    trainer_samples samples = {.list = list, .count = LOOKS};
    const trainer_watch watch = {.samples = &samples};
    trainer_result result;
    trainer *t = NULL;
    OK(cnn_optimizer_parse("adam", &params.optimizer, err));
    OK(trainer_open(&session, n, &data, &params, &t, err));
    OK(trainer_start(t, err));
    samples.trained = malloc((size_t)n->net.param_elems * sizeof(float));
    assert_non_null(samples.trained);
    for (int i = 0; i < LOOKS; i++) {
        list[i].wanted = looks[i].wanted, list[i].launches = looks[i].launches, list[i].idle = looks[i].idle;
        OK(trainer_state_make(t, &list[i].before, err));
        OK(trainer_state_make(t, &list[i].after, err));
    }
    OK(trainer_epoch(t, 0, &watch, &result, err));
    for (int i = 0; i < LOOKS; i++) {
        assert_int_equal(list[i].first, looks[i].wanted);
        assert_int_equal(list[i].steps, looks[i].steps);
        assert_int_equal(list[i].after.own.step, looks[i].wanted + looks[i].steps);
        assert_int_equal(list[i].before.own.step, looks[i].wanted);
    }
    const size_t params_bytes = (size_t)n->net.param_elems * sizeof(float);
    const size_t trained_bytes = (size_t)n->net.trained_elems * sizeof(float);
    const trainer_state *end = &list[0].after, *next = &list[1].before;
    assert_memory_equal(end->own.params, next->own.params, params_bytes);
    assert_memory_equal(end->own.state[0], next->own.state[0], trained_bytes);
    assert_memory_equal(end->own.state[1], next->own.state[1], trained_bytes);
    assert_memory_equal(end->own.grads, next->own.grads, trained_bytes);
    assert_true(memcmp(&end->loss_sum, &next->loss_sum, sizeof end->loss_sum) == 0 && end->correct == next->correct);
    assert_memory_not_equal(end->own.params, list[0].before.own.params, params_bytes);
    for (int i = 0; i < LOOKS; i++) trainer_state_free(&list[i].before), trainer_state_free(&list[i].after);
    free(samples.trained);
    trainer_close(t);
    cnn_net_free(n);
    dataset_free(&data);
    cnn_session_close(&session);
}

static void right_ones_pass_in_every_way(void **state)
{
    static const char *const optimizers[] = {"sgd", "momentum", "adagrad", "rmsprop", "adam,l1=1e-5,l2=1e-4"};
    for (uint64_t i = 1; i <= 40; i++) {
        set_up u = {.impl = i % 2 ? cnn_impl_cpu() : cnn_impl_mock(),
                    .net = net_text,
                    .optimizer = optimizers[i % 5],
                    .batch = i % 7 + 1,
                    .train = 100,
                    .type = {i % 3 ? CNN_F32 : CNN_F64, i % 3 ? CNN_F32 : CNN_F64, i % 4 < 2 ? CNN_NCHW : CNN_NHWC,
                             CNN_MATH_F32}};
        u.params.no_graph = i % 8 == 0;
        u.params.host_data = i % 5 == 0;
        u.params.shift = i % 6 == 0 ? 2 : 0;
        const verify_training_result r = train(&u, i);
        if (r.failed) fail_msg("%d: %s", (int)i, r.reason);
    }
}

/* The reference takes large batches in parts, and dropout's masks go by the place in the whole. */
static void large_batches_are_taken_in_parts(void **state)
{
    const set_up u = {.impl = cnn_impl_cpu(),
                      .net = "input 1 8 8\nconv 4 kernel=3\ntanh\ndropout 0.5\nfc 10\nsoftmax_cross_entropy\n",
                      .optimizer = "adam",
                      .batch = 150,
                      .train = 310};
    const verify_training_result r = train(&u, 2);
    if (r.failed) fail_msg("%s", r.reason);
}

/* Exact zeros in front of a leaky ReLU, as where images are empty and biases still 0: a rounding more, and all of them
 * have the other slope. */
static cnn_status other_slope(cnn_context *c, const cnn_plan *plan, const cnn_map_bwd_args *a, cnn_error *err)
{
    const cnn_act_desc *d = &plan->problem.u.act;
    const int64_t count = d->mb * d->ic * d->ih * d->iw;
    float *dy = malloc((size_t)count * sizeof *dy);
    assert_non_null(dy);
    memcpy(dy, a->dy, (size_t)count * sizeof *dy);
    const cnn_status status = cnn_impl_cpu()->ops->act_bwd(c, plan, a, err);
    for (int64_t i = 0; i < count; i++)
        if (((const float *)a->y)[i] == 0.0f) ((float *)a->dx)[i] = dy[i];
    free(dy);
    return status;
}

static void the_other_side_of_a_kink_is_no_fault(void **state)
{
    cnn_impl impl = *cnn_impl_cpu();
    cnn_operations ops = *impl.ops;
    impl.ops = &ops;
    ops.act_bwd = other_slope;
    const set_up u = {.impl = &impl,
                      .net = "input 1 8 8\nconv 4 kernel=3\nsave a\ninit uniform 0\nconv 4 kernel=3 pad=1\nconcat a\n"
                             "leaky_relu 0.1\ninit default\nfc 10\nsoftmax_cross_entropy\n",
                      .optimizer = "sgd,lr=1e-9",
                      .batch = 100,
                      .train = 100};
    const verify_training_result r = train(&u, 1); /* one step an epoch: the first, with the zeros, is looked at */
    if (r.failed) fail_msg("%s", r.reason);
}

/* ---- Graphs: what is replayed in the epoch is not what is replayed one by one. */

static cnn_status (*replay)(cnn_context *, cnn_graph *, cnn_error *);
static cnn_status (*captured)(cnn_context *, cnn_graph **, cnn_error *);
static int64_t replays, captures;
static const cnn_graph *many; /* the steps that are one graph: captured behind a single one */

static cnn_status note_capture(cnn_context *c, cnn_graph **graph, cnn_error *err)
{
    const cnn_status status = captured(c, graph, err);
    if (++captures == 2) many = *graph;
    return status;
}

/* Every second replay of many steps is left out; single ones are right. */
static cnn_status lazy_replay(cnn_context *c, cnn_graph *graph, cnn_error *err)
{
    return graph == many && replays++ % 2 ? CNN_OK : replay(c, graph, err);
}

static void a_graph_that_rests_is_found(void **state)
{
    cnn_impl impl = *cnn_impl_mock();
    cnn_capture capture = *impl.capture;
    replay = capture.run;
    captured = capture.end;
    capture.run = lazy_replay;
    capture.end = note_capture;
    impl.capture = &capture;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        const set_up u = {.impl = &impl, .net = net_text, .optimizer = "adam", .batch = 1, .train = 96};
        replays = captures = 0;
        const verify_training_result r = train(&u, seed);
        if (!r.failed || strstr(r.reason, "run again") == NULL)
            fail_msg("seed %d: every second replay is left out: '%s'", (int)seed, r.reason);
    }
}

/* ---- Sums without a fixed order: each run rounds differently, and steps at a high rate make much of it. */

static const char chaotic_net[] = "input 1 8 8\nfc 16\ntanh\nfc 16\ntanh\nfc 16\ntanh\nfc 16\ntanh\nfc 10\n"
                                  "softmax_cross_entropy\n";

static void the_chance_of_many_steps_is_no_fault(void **state)
{
    enum { KNOBS_MOST = 64, SEEDS = 12 };
    cnn_impl impl = *cnn_impl_mock();
    cnn_capture capture = *impl.capture;
    cnn_knob knobs[KNOBS_MOST];
    int met = 0;
    assert_true(impl.n_knobs <= KNOBS_MOST);
    memcpy(knobs, impl.knobs, (size_t)impl.n_knobs * sizeof *knobs);
    for (int i = 0; i < impl.n_knobs; i++)
        if (strcmp(knobs[i].name, "disorder") == 0) knobs[i].def = 1;
    impl.knobs = knobs;
    replay = capture.run;
    captured = capture.end;
    for (uint64_t seed = 1; seed <= 2 * SEEDS; seed++) {
        const bool rests = seed > SEEDS; /* every second replay of many steps does: that is no chance */
        const set_up u = {.impl = &impl, .net = chaotic_net, .optimizer = "sgd,lr=1.5", .batch = 1, .train = 1000};
        capture.run = rests ? lazy_replay : replay;
        capture.end = rests ? note_capture : captured;
        impl.capture = &capture;
        replays = captures = 0;
        const verify_training_result r = train(&u, seed);
        if (r.failed != rests) fail_msg("seed %d: %d '%s'", (int)seed, r.failed, r.reason);
        met += alone;
    }
    assert_true(met > 0);
}

/* ---- A trainer of an implementation's own. */

static void a_trainer_of_its_own_is_compared_too(void **state)
{
    cnn_impl impl = *cnn_impl_cpu();
    impl.trainers = &own_trainers;
    impl.algorithms = &own_row;
    impl.n_algorithms = 1;
    for (int f = STEP_RIGHT; f < STEP_FLAWS; f++) {
        set_up u = {.impl = &impl,
                    .net = "input 1 8 8\nconv 4 kernel=3\ntanh\nfc 10\nsoftmax_cross_entropy\n",
                    .optimizer = "sgd,lr=0.1",
                    .batch = OWN_BATCH,
                    .train = f == STEP_COARSE ? 1000 : 100}; /* so many that looks are of several steps */
        u.params.algorithm = own_row.name;
        step_present = (step_flaw)f;
        const verify_training_result r = train(&u, 9);
        if (r.failed != (f != STEP_RIGHT) || strstr(r.reason, step_reasons[f]) == NULL)
            fail_msg("flaw %d of a trainer: %d '%s', expected '%s'", f, r.failed, r.reason, step_reasons[f]);
        if (f == STEP_COARSE && strchr(r.steps + strlen("train "), ' ') != NULL)
            fail_msg("a coarse step is found at the first look, not behind %s", r.steps);
    }
}

int main(void)
{
    const struct CMUnitTest unit_tests[] = {
        cmocka_unit_test(each_flaw_is_found),
        cmocka_unit_test(steps_are_drawn),
        cmocka_unit_test(looks_end_where_the_next_begins),
        cmocka_unit_test(right_ones_pass_in_every_way),
        cmocka_unit_test(large_batches_are_taken_in_parts),
        cmocka_unit_test(the_other_side_of_a_kink_is_no_fault),
        cmocka_unit_test(a_graph_that_rests_is_found),
        cmocka_unit_test(the_chance_of_many_steps_is_no_fault),
        cmocka_unit_test(a_trainer_of_its_own_is_compared_too),
    };
    return cmocka_run_group_tests(unit_tests, NULL, NULL);
}
