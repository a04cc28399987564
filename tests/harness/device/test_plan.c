/* Plans: what an implementation may make of one, and that it can change nothing that the harness holds it to. The
 * device number says what this one tries. */
#include "tests/unit.h"

#include "harness/device/impl.h"

#include <math.h>
#include <stdlib.h>

typedef enum trick {
    HONEST,
    NARROWS, /* from a search's promise to what it found */
    RAISES,
    TURNS_INTO_NAN,
    FLAGS,
    LEAVES_A_FACTOR, /* drops TRANSFORMS, keeps the factor */
    CHANGES_MATH,
    CHANGES_DIR,
    CHANGES_KNOBS,
    LATER, /* prepare keeps the address: it must not be the harness's own plan */
    IN_SUPPORTS,
    IN_THE_CALL,
    TRICKS
} trick;

struct cnn_context {
    trick trick;
    cnn_plan *kept;
    int states, calls;
    int64_t asked; /* the knob of the latest request */
};

static cnn_status open_context(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    *context = calloc(1, sizeof **context);
    if (*context == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context");
    (*context)->trick = (trick)params->device;
    return CNN_OK;
}

static void close_context(cnn_context *context)
{
    assert_int_equal(context->states, 0); /* all released, of plans that were refused, too */
    free(context);
}

/* Const cast away. */
static void spoil(const cnn_problem *problem, const cnn_algorithm *algorithm)
{
    cnn_problem *p = (cnn_problem *)(uintptr_t)problem;
    cnn_algorithm *a = (cnn_algorithm *)(uintptr_t)algorithm;
    p->u.act.mb = 1;
    p->u.type.math = CNN_MATH_BF16;
    a->amplification = 1e30;
    a->flags |= CNN_ALGO_TRANSFORMS;
}

static cnn_status supports(cnn_context *c, const cnn_request *request, cnn_error *err)
{
    c->asked = request->knobs[0];
    if (request->knobs[0] == 3) return CNN_FAIL(err, CNN_UNSUPPORTED, "not with 3");
    if (c->trick != IN_SUPPORTS) return CNN_OK;
    spoil(request->problem, request->algorithm);
    *(int64_t *)(uintptr_t)request->knobs = 7;
    return CNN_OK;
}

static cnn_status prepare(cnn_context *c, cnn_plan *plan, cnn_error *err)
{
    cnn_algorithm *a = &plan->algorithm;
    plan->state = &c->states;
    c->states++;
    plan->workspace_bytes = 128;
    memset(plan->choice, 'x', sizeof plan->choice);
    if (c->trick == NARROWS) a->flags &= ~(uint32_t)CNN_ALGO_TRANSFORMS, a->amplification = 1;
    if (c->trick == RAISES) a->amplification = 1e30;
    if (c->trick == TURNS_INTO_NAN) a->amplification = NAN;
    if (c->trick == FLAGS) a->flags |= CNN_ALGO_DETERMINISTIC;
    if (c->trick == LEAVES_A_FACTOR) a->flags = 0;
    if (c->trick == CHANGES_MATH) plan->problem.u.type.math = CNN_MATH_BF16;
    if (c->trick == CHANGES_DIR) plan->dir = CNN_BWD_D;
    if (c->trick == CHANGES_KNOBS) plan->knobs = &c->asked;
    if (c->trick == LATER) c->kept = plan;
    return CNN_OK;
}

static void release(cnn_context *c, cnn_plan *plan)
{
    assert_ptr_equal(plan->state, &c->states);
    c->states--;
}

static const cnn_plan *its_own; /* the harness's */

static cnn_status act_fwd(cnn_context *c, const cnn_plan *plan, const cnn_map_fwd_args *args, cnn_error *err)
{
    c->calls++;
    assert_int_equal(plan->problem.u.act.mb, 3); /* nor does it see what it did to an earlier one */
    if (c->trick == IN_THE_CALL) spoil(&plan->problem, &plan->algorithm);
    assert_ptr_not_equal(plan, its_own);
    if (c->trick == LATER) assert_ptr_not_equal(c->kept, its_own);
    return CNN_OK;
}

static const cnn_algorithm algorithms[] = {
    {.name = "any", .doc = "", .ops = 1u << CNN_OP_ACT, .flags = CNN_ALGO_TRANSFORMS, .amplification = 16}};

static const cnn_knob knob_table[] = {{.name = "k", .doc = "", .max = 9, .def = 5},
                                      {.name = "c", .doc = "", .max = 9, .of_context = true}};
static const cnn_operations ops = {.struct_size = sizeof(cnn_operations), .act_fwd = act_fwd};

static const cnn_impl impl = {.abi_version = CNN_ABI_VERSION,
                              .struct_size = sizeof(cnn_impl),
                              .name = "tricky",
                              .doc = "",
                              .algorithms = algorithms,
                              .n_algorithms = 1,
                              .knobs = knob_table,
                              .n_knobs = 2,
                              .open = open_context,
                              .close = close_context,
                              .supports = supports,
                              .prepare = prepare,
                              .release = release,
                              .ops = &ops};

static const cnn_problem problem = {
    .op = CNN_OP_ACT, .u.act = {.t = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32}, .mb = 3, .ic = 2, .ih = 4, .iw = 5}};

/* Makes a plan and runs it twice; the status of making it. */
static cnn_status make(trick t, const cnn_algorithm *algorithm, cnn_plan *plan, cnn_error *err)
{
    const cnn_session_params params = {.threads = 1, .device = (int)t};
    cnn_session session;
    assert_int_equal(cnn_session_open(&impl, &params, &session, err), CNN_OK);
    its_own = plan;
    const cnn_request request = {&problem, CNN_FWD, algorithm, NULL};
    const cnn_status status = cnn_plan_make(&session, &request, plan, err);
    void *operands[CNN_MAX_OPERANDS] = {NULL};
    for (int i = 0; status == CNN_OK && i < 2; i++)
        assert_int_equal(cnn_run(&session, plan, operands, &(cnn_run_extra){.beta = 0}, err), CNN_OK);
    if (status == CNN_OK) {
        const cnn_plan as_run = *plan;
        assert_int_equal(session.context->calls, 2);
        assert_int_equal(plan->knobs[0], 5);
        assert_int_equal(session.knobs[0], 5);
        cnn_plan_release(&session, plan);
        *plan = as_run;
    }
    cnn_session_close(&session);
    return status;
}

static void expect_untouched(const cnn_plan *plan, double amplification, uint32_t flags)
{
    assert_memory_equal(&plan->problem, &problem, sizeof problem);
    assert_int_equal(problem.u.act.mb, 3);
    assert_int_equal(plan->dir, CNN_FWD);
    assert_true(plan->algorithm.amplification == amplification);
    assert_int_equal(plan->algorithm.flags, flags);
    assert_true(algorithms[0].amplification == 16.0);
}

static void what_prepare_may_set_is_taken(void **state)
{
    cnn_plan plan;
    cnn_error err = {.message = ""};
    assert_int_equal(make(HONEST, algorithms, &plan, &err), CNN_OK);
    expect_untouched(&plan, 16, CNN_ALGO_TRANSFORMS);
    assert_int_equal(plan.workspace_bytes, 128);
    assert_int_equal(strlen(plan.choice), sizeof plan.choice - 1); /* a choice without an end gets one */
    assert_int_equal(make(NARROWS, algorithms, &plan, &err), CNN_OK);
    expect_untouched(&plan, 1, 0);
}

static void what_is_written_elsewhere_is_lost(void **state)
{
    static const trick tricks[] = {LATER, IN_SUPPORTS, IN_THE_CALL};
    cnn_plan plan;
    cnn_error err = {.message = ""};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(make(tricks[i], algorithms, &plan, &err), CNN_OK);
        expect_untouched(&plan, 16, CNN_ALGO_TRANSFORMS);
    }
}

static void a_wider_promise_is_refused(void **state)
{
    static const struct {
        trick trick;
        const char *text;
    } cases[] = {{RAISES, "raised its amplification from 16 to 1e+30"},
                 {TURNS_INTO_NAN, "raised its amplification from 16 to nan"},
                 {FLAGS, "changed its flags from 0x2 to 0x3"},
                 {LEAVES_A_FACTOR, "an amplification of 16 without TRANSFORMS"},
                 {CHANGES_MATH, "changed the problem, the direction or the knobs"},
                 {CHANGES_DIR, "changed the problem, the direction or the knobs"},
                 {CHANGES_KNOBS, "changed the problem, the direction or the knobs"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cnn_plan plan;
        cnn_error err = {.message = ""};
        assert_int_equal(make(cases[i].trick, algorithms, &plan, &err), CNN_INTERNAL);
        assert_message(err, cases[i].text);
    }
}

static void a_factor_that_is_none_is_refused(void **state)
{
    static const double none[] = {NAN, INFINITY, -1e15, 0, 0.5};
    for (int i = 0; i < 5; i++) {
        cnn_plan plan;
        cnn_error err = {.message = ""};
        cnn_algorithm a = algorithms[0];
        a.amplification = none[i];
        assert_int_equal(make(HONEST, &a, &plan, &err), CNN_INTERNAL);
        assert_message(err, "must be a number from 1 up");
        a.amplification = 1.5, a.flags = 0;
        assert_int_equal(make(HONEST, &a, &plan, &err), CNN_INTERNAL);
        assert_message(err, "without TRANSFORMS");
    }
}

/* Those of two layers may differ; a plan keeps its own, whatever becomes of the request's. */
static void knobs_are_a_requests_own(void **state)
{
    const cnn_session_params params = {.threads = 1};
    int64_t knobs[2][2] = {{1}, {2}};
    cnn_session session;
    cnn_plan plans[3];
    cnn_error err;
    its_own = NULL;
    assert_int_equal(cnn_session_open(&impl, &params, &session, &err), CNN_OK);
    for (int i = 0; i < 3; i++) {
        const cnn_request request = {&problem, CNN_FWD, algorithms, i < 2 ? knobs[i] : NULL};
        assert_int_equal(cnn_plan_make(&session, &request, &plans[i], &err), CNN_OK);
        assert_int_equal(session.context->asked, i < 2 ? i + 1 : 5);
    }
    knobs[0][0] = 3;
    assert_int_equal(cnn_supports(&session, &(cnn_request){&problem, CNN_FWD, algorithms, knobs[0]}, &err),
                     CNN_UNSUPPORTED);
    assert_message(err, "not with 3");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(plans[i].knobs[0], i < 2 ? i + 1 : 5);
        cnn_plan_release(&session, &plans[i]);
    }
    cnn_session_close(&session);
}

/* Launch parameters need no context of their own; knobs of the context do. */
static void a_context_serves_all_launch_parameters(void **state)
{
    static const int64_t others[2][2] = {{7, 0}, {7, 1}};
    const cnn_session_params params = {.threads = 1};
    cnn_session session, other;
    cnn_error err;
    assert_int_equal(cnn_session_open(&impl, &params, &session, &err), CNN_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cnn_session_with(&session, others[i], &other, &err), CNN_OK);
        assert_int_equal(other.context == session.context, i == 0);
        assert_int_equal(cnn_supports(&other, &(cnn_request){&problem, CNN_FWD, algorithms, NULL}, &err), CNN_OK);
        assert_int_equal(other.context->asked, 7);
        cnn_session_close(&other);
        assert_int_equal(cnn_supports(&session, &(cnn_request){&problem, CNN_FWD, algorithms, NULL}, &err), CNN_OK);
        assert_int_equal(session.context->asked, 5);
    }
    cnn_session_close(&session);
}

/* The gate is for what the operation has and the algorithm serves. */
static void what_is_not_served_is_not_asked(void **state)
{
    const cnn_session_params params = {.threads = 1};
    cnn_algorithm of_conv = algorithms[0];
    cnn_session session;
    cnn_plan plan;
    cnn_error err;
    (void)state;
    of_conv.ops = 1u << CNN_OP_CONV;
    assert_int_equal(cnn_session_open(&impl, &params, &session, &err), CNN_OK);
    assert_int_equal(cnn_plan_make(&session, &(cnn_request){&problem, CNN_BWD_W, algorithms, NULL}, &plan, &err),
                     CNN_UNSUPPORTED);
    assert_message(err, "no direction BWD_W");
    assert_int_equal(cnn_plan_make(&session, &(cnn_request){&problem, CNN_FWD, &of_conv, NULL}, &plan, &err),
                     CNN_UNSUPPORTED);
    assert_message(err, "does not serve");
    assert_int_equal(session.context->asked, 0);
    cnn_session_close(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_prepare_may_set_is_taken),  cmocka_unit_test(what_is_written_elsewhere_is_lost),
        cmocka_unit_test(a_wider_promise_is_refused),     cmocka_unit_test(a_factor_that_is_none_is_refused),
        cmocka_unit_test(knobs_are_a_requests_own),       cmocka_unit_test(a_context_serves_all_launch_parameters),
        cmocka_unit_test(what_is_not_served_is_not_asked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
