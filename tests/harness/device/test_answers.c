/* test_answers.c: what an implementation may answer behind its gate. `supports` decides; a late refusal is told as one,
 * and any other way not to run is a failure. */
#include "tests/problem_unit.h"

#include "harness/device/impl.h"

/* ---- An implementation that answers what it is told to. */

static cnn_status answer;    /* of the operation */
static cnn_status planned;   /* of prepare */
static size_t asked_for;     /* bytes of workspace, by prepare */
static int questions, no_at; /* supports says no at this question, counted from 1; 0: never; -1: always */

static cnn_status supports(cnn_context *c, const cnn_request *request, cnn_error *err)
{
    questions++;
    return no_at == questions || no_at < 0 ? CNN_FAIL(err, CNN_UNSUPPORTED, "not this") : CNN_OK;
}

static cnn_status prepare(cnn_context *c, cnn_plan *plan, cnn_error *err)
{
    plan->workspace_bytes = asked_for;
    return planned == CNN_OK ? CNN_OK : CNN_FAIL(err, planned, "found when planning");
}

static cnn_status run(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    return answer == CNN_OK ? CNN_OK : CNN_FAIL(err, answer, "as told");
}

static cnn_status sync_now(cnn_context *c, cnn_error *err)
{
    return answer == CNN_OK ? CNN_OK : CNN_FAIL(err, answer, "as told");
}

static const cnn_operations ops = {.struct_size = sizeof(cnn_operations), .conv_fwd = run};
static const cnn_impl impl = {.name = "told", .supports = supports, .prepare = prepare, .sync = sync_now, .ops = &ops};
static int64_t no_knobs[1];
static const cnn_session session = {.impl = &impl, .knobs = no_knobs};
static cnn_algorithm algorithm = {.name = "a", .ops = 1u << CNN_OP_CONV, .amplification = 1};

static cnn_status plan_one(cnn_plan *plan, cnn_error *err)
{
    const cnn_problem problem = problem_of(CNN_OP_CONV, "mb1ic1ih4oc1kh3", CNN_F32, CNN_NCHW);
    questions = 0;
    return cnn_plan_make(&session, &(cnn_request){&problem, CNN_FWD, &algorithm, NULL}, plan, err);
}

/* ---- Tests. */

static void an_operation_runs_or_fails(void **state)
{
    static const cnn_status told[] = {CNN_UNSUPPORTED, CNN_UNAVAILABLE,  CNN_OUT_OF_MEMORY, CNN_INTERRUPTED,
                                      CNN_OVERFLOW,    CNN_BAD_ARGUMENT, CNN_DEVICE,        CNN_INTERNAL};
    cnn_plan plan;
    cnn_error err;
    void *const operands[CNN_MAX_OPERANDS] = {NULL};
    no_at = 0, planned = answer = CNN_OK;
    assert_int_equal(plan_one(&plan, &err), CNN_OK);
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        answer = told[i];
        const cnn_status status = cnn_run(&session, &plan, operands, &(cnn_run_extra){.beta = 0}, &err);
        assert_true(status == CNN_DEVICE || status == CNN_INTERNAL);
        assert_int_equal(err.status, status);
        assert_message(err, "as told");
    }
    answer = CNN_OK;
    cnn_plan_release(&session, &plan);
}

static void what_cannot_refuse_does_not(void **state)
{
    static const cnn_status told[] = {CNN_UNSUPPORTED, CNN_UNAVAILABLE, CNN_INTERRUPTED};
    cnn_error err;
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        answer = told[i];
        assert_int_equal(cnn_sync(&session, &err), CNN_INTERNAL);
        assert_message(err, "told: sync returned the status");
    }
    answer = CNN_OUT_OF_MEMORY;
    assert_int_equal(cnn_sync(&session, &err), CNN_OUT_OF_MEMORY);
    answer = CNN_OK;
}

static void a_late_refusal_says_so(void **state)
{
    cnn_plan plan;
    cnn_error err;
    no_at = 0, planned = CNN_UNSUPPORTED;
    for (int may = 0; may < 2; may++) {
        algorithm.flags = may ? CNN_ALGO_MAY_REFUSE : 0;
        assert_int_equal(plan_one(&plan, &err), may ? CNN_UNSUPPORTED : CNN_INTERNAL);
        assert_int_equal(strncmp(err.message, CNN_REFUSED_LATE, strlen(CNN_REFUSED_LATE)), 0);
        assert_message(err, may ? "prepare said no: " : "takes the flag CNN_ALGO_MAY_REFUSE, and told:");
        assert_message(err, "found when planning");
    }
    planned = CNN_INTERRUPTED;
    assert_int_equal(plan_one(&plan, &err), CNN_INTERNAL);
    planned = CNN_OK, no_at = -1;
    assert_int_equal(plan_one(&plan, &err), CNN_UNSUPPORTED);
    assert_string_equal(err.message, "not this");
}

/* As a refusal in disguise: more than there is. */
static void a_workspace_cannot_refuse(void **state)
{
    cnn_plan plan;
    cnn_error err;
    no_at = 0, planned = CNN_OK, asked_for = (size_t)1 << 60;
    for (int may = 0; may < 2; may++) {
        algorithm.flags = may ? CNN_ALGO_MAY_REFUSE : 0;
        assert_int_equal(plan_one(&plan, &err), CNN_INTERNAL);
        assert_message(err, "told:a asks for 1152921504606846976 bytes of workspace");
    }
    asked_for = 0, algorithm.flags = 0;
}

static void a_gate_that_wavers_is_none(void **state)
{
    cnn_plan plan;
    cnn_error err;
    planned = CNN_OK, no_at = 1;
    assert_int_equal(plan_one(&plan, &err), CNN_INTERNAL);
    assert_message(err, "first no and then yes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operation_runs_or_fails), cmocka_unit_test(what_cannot_refuse_does_not),
        cmocka_unit_test(a_late_refusal_says_so),     cmocka_unit_test(a_workspace_cannot_refuse),
        cmocka_unit_test(a_gate_that_wavers_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
