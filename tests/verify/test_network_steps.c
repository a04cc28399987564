/* test_network_steps.c: what verify says of a trainer's steps where rounding alone decides where many of them end: it
 * compares fewer; and where steps of the default length leave no numbers: it compares shorter ones. A right trainer is
 * never accused; one that begins with other parameters is. */
#include "tests/harness/net/train_shift_unit.h"

#include "harness/device/registry.h"
#include "verify/verify.h"

/* Forty layers: a difference of 2^-20 grows to all of the way within 12 steps, with most seeds. */
static void make_net(char text[], size_t size)
{
    size_t at = (size_t)snprintf(text, size, "input 1 8 8\n");
    for (int i = 0; i < 40; i++) at += (size_t)snprintf(text + at, size - at, "fc 32\ntanh\n");
    snprintf(text + at, size - at, "fc 10\nsoftmax_cross_entropy\n");
}

/* Values that grow from layer to layer, and their gradients with them: a step is many times the parameters. */
static void make_steep(int layers, int most, char text[], size_t size)
{
    size_t at = (size_t)snprintf(text, size, "input 1 8 8\ninit uniform %d %d\n", -most, most);
    for (int i = 0; i < layers; i++) at += (size_t)snprintf(text + at, size - at, "fc 32\nrelu\n");
    snprintf(text + at, size - at, "fc 10\nquadratic\n");
}

/* One optimizer will do. */
static cnn_status only_sgd(cnn_context *c, const cnn_trainer_request *request, cnn_error *why)
{
    if (request->optimizer->kind != CNN_SGD) return CNN_FAIL(why, CNN_UNSUPPORTED, "only SGD");
    return cnn_impl_cpu()->trainers->supports(c, request, why);
}

/* cpu:fused, but it begins with other parameters. The reference never judges the very first step. */
static cnn_status train_from_elsewhere(cnn_context *c, cnn_trainer *t, const cnn_images *images, int64_t first,
                                       int64_t count, cnn_error *why)
{
    static float params[65536], grads[65536], m[65536], s[65536];
    const cnn_trainers *right = cnn_impl_cpu()->trainers;
    cnn_train_state state = {.params = params, .grads = grads, .state = {m, s}};
    OK(right->save(c, t, &state, err));
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) params[i] *= 0.98f;
    if (state.step == 0 && count > 0) OK(right->load(c, t, &state, err));
    return right->train(c, t, images, first, count, why);
}

/* An update that leaves no numbers, of a single operation. */
static cnn_status update_to_nan(cnn_context *c, const cnn_plan *plan, const cnn_optimizer_args *args, cnn_error *why)
{
    OK(cnn_impl_cpu()->ops->optimizer_step(c, plan, args, why));
    *(float *)args->w = NAN;
    return CNN_OK;
}

static void keep(void *user, const verify_result *r) { *(verify_result *)user = *r; }

/* What is wrong: the trainer, the update of single operations, or nothing. */
typedef enum fault { RIGHT, ELSEWHERE, NAN_UPDATE } fault;

static verify_result steps_of(const char *text, fault wrong, uint64_t seed)
{
    const verify_options options = {.seed = seed, .reference_threads = 2};
    cnn_impl impl = *cnn_impl_cpu();
    cnn_trainers trainers = *impl.trainers;
    cnn_operations ops = *impl.ops;
    const cnn_algorithm *fused = NULL;
    verify_result r = {.state = VERIFY_SKIPPED};
    trainers.supports = only_sgd;
    if (wrong == ELSEWHERE) trainers.train = train_from_elsewhere;
    if (wrong == NAN_UPDATE) ops.optimizer_step = update_to_nan;
    impl.name = "another";
    impl.trainers = &trainers;
    impl.ops = &ops;
    for (int i = 0; i < impl.n_algorithms; i++)
        if (strcmp(impl.algorithms[i].name, "fused") == 0) fused = &impl.algorithms[i];
    assert_non_null(fused);
    cnn_session session = session_of(&impl);
    cnn_network *n = build_net(text, CNN_F32, CNN_NCHW, 4);
    assert_true(n->net.param_elems <= 65536);
    OK(verify_net_steps(&session, n, fused, &options, keep, &r, err));
    cnn_net_free(n);
    cnn_session_close(&session);
    return r;
}

enum { SEEDS = 8 };
static uint64_t decided = 1; /* a seed with which rounding decides */

static void what_rounding_decides_is_no_fault(void **state)
{
    char text[1024];
    make_net(text, sizeof text);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const verify_result r = steps_of(text, RIGHT, seed);
        if (r.state != VERIFY_PASSED) fail_msg("seed %d: %s: %s", (int)seed, verify_state_name(r.state), r.reason);
        decided = seed;
        if (strstr(r.reason, "rounding decides") != NULL) return;
    }
    fail_msg("of %d seeds with none fewer steps were compared", (int)SEEDS);
}

static void fewer_steps_show_a_fault(void **state)
{
    char text[1024];
    make_net(text, sizeof text);
    const verify_result r = steps_of(text, ELSEWHERE, decided);
    if (r.state != VERIFY_FAILED) fail_msg("seed %d: %s: %s", (int)decided, verify_state_name(r.state), r.reason);
}

static void shorter_steps_are_compared(void **state)
{
    char text[1024];
    make_steep(9, 1, text, sizeof text);
    const verify_result right = steps_of(text, RIGHT, 1), wrong = steps_of(text, ELSEWHERE, 1);
    if (right.state != VERIFY_PASSED || strstr(right.reason, "12 steps with 1 optimizer") == NULL ||
        strstr(right.reason, "with 1 at a lower rate than its own") == NULL)
        fail_msg("%s: %s", verify_state_name(right.state), right.reason);
    if (wrong.state != VERIFY_FAILED) fail_msg("%s: %s", verify_state_name(wrong.state), wrong.reason);
}

static void what_ends_in_no_numbers_is_skipped(void **state)
{
    char text[2048];
    make_steep(40, 9, text, sizeof text);
    const verify_result r = steps_of(text, RIGHT, 1);
    if (r.state != VERIFY_SKIPPED || strstr(r.reason, "at any rate") == NULL)
        fail_msg("%s: %s", verify_state_name(r.state), r.reason);
}

/* The composition is no measure then, and is the fault itself: impl_cpu's ends in numbers. */
static void broken_operations_are_a_fault(void **state)
{
    const verify_result r = steps_of("input 1 8 8\nfc 16\nrelu\nfc 10\nsoftmax_cross_entropy\n", NAN_UPDATE, 1);
    if (r.state != VERIFY_FAILED || strstr(r.reason, "operations of another end in no numbers") == NULL)
        fail_msg("%s: %s", verify_state_name(r.state), r.reason);
}

int main(void)
{
    const struct CMUnitTest unit_tests[] = {
        cmocka_unit_test(what_rounding_decides_is_no_fault), cmocka_unit_test(fewer_steps_show_a_fault),
        cmocka_unit_test(shorter_steps_are_compared),        cmocka_unit_test(what_ends_in_no_numbers_is_skipped),
        cmocka_unit_test(broken_operations_are_a_fault),
    };
    return cmocka_run_group_tests(unit_tests, NULL, NULL);
}
