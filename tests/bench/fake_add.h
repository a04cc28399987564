/* fake_add.h: a made-up implementation of `add`, whose algorithms are right, wrong in one corner, idle or broken after
 * their first runs; with a small problem for all of them. */
#ifndef TESTS_BENCH_FAKE_ADD_H
#define TESTS_BENCH_FAKE_ADD_H

#include "bench/measure/candidates.h"
#include "tests/problem_unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RIGHT, WRONG_CORNER, IDLE, NAN_CORNER, REFUSING, BREAKING, ALGORITHMS };

struct cnn_context {
    int calls, breaking_calls;
    char order[64]; /* whose turn it was: the algorithms' numbers, each once a row of calls */
    int turns;
};

static cnn_status open_context(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    *context = calloc(1, sizeof **context);
    return *context ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory");
}

static void close_context(cnn_context *context) { free(context); }

static cnn_status supports(cnn_context *context, const cnn_request *request, cnn_error *err)
{
    return request->algorithm->id == REFUSING ? CNN_FAIL(err, CNN_UNSUPPORTED, "not this one") : CNN_OK;
}

static cnn_status add(cnn_context *context, const cnn_plan *plan, const cnn_join_args *args, cnn_error *err)
{
    const cnn_add_desc *d = &plan->problem.u.add;
    int64_t count = d->mb * d->ic * d->ih * d->iw;
    const float *a = args->x[0], *b = args->x[1];
    float *y = args->y;
    const char id = (char)('0' + plan->algorithm.id);
    if (context->turns < (int)sizeof context->order &&
        (context->turns == 0 || context->order[context->turns - 1] != id))
        context->order[context->turns++] = id;
    if (plan->algorithm.id == BREAKING && context->breaking_calls++ > 5)
        return CNN_FAIL(err, CNN_DEVICE, "the device is gone");
    if (plan->algorithm.id == IDLE && context->calls++ > 5) return CNN_OK;
    for (int64_t i = 0; i < count; i++) y[i] = a[i] + b[i];
    if (plan->algorithm.id == WRONG_CORNER) y[count - 1] += 0.001f;
    if (plan->algorithm.id == NAN_CORNER) y[0] = NAN;
    return CNN_OK;
}

#define ALGORITHM(text, number)                                                                                        \
    {                                                                                                                  \
        .name = text, .doc = "", .ops = 1u << CNN_OP_ADD, .amplification = 1, .id = number                             \
    }
static const cnn_algorithm algorithms[ALGORITHMS] = {
    ALGORITHM("right", RIGHT),           ALGORITHM("wrong_corner", WRONG_CORNER), ALGORITHM("idle", IDLE),
    ALGORITHM("nan_corner", NAN_CORNER), ALGORITHM("refusing", REFUSING),         ALGORITHM("breaking", BREAKING),
};

static const cnn_operations fake_ops = {.struct_size = sizeof(cnn_operations), .add_fwd = add};

static const cnn_impl fake = {.abi_version = CNN_ABI_VERSION,
                              .struct_size = sizeof(cnn_impl),
                              .name = "fake",
                              .doc = "",
                              .algorithms = algorithms,
                              .n_algorithms = ALGORITHMS,
                              .open = open_context,
                              .close = close_context,
                              .supports = supports,
                              .ops = &fake_ops};

typedef struct bench_fixture {
    cnn_session session;
    vf_case c;
    candidate list[ALGORITHMS];
} bench_fixture;

static void set_up(bench_fixture *f)
{
    cnn_error err;
    const cnn_problem problem = problem_of(CNN_OP_ADD, "mb2ic3ih8", CNN_F32, CNN_NCHW);
    cnn_session_params params = {.threads = 1};
    memset(f, 0, sizeof *f);
    assert_int_equal(cnn_session_open(&fake, &params, &f->session, &err), CNN_OK);
    assert_int_equal(vf_case_make(&f->c, &problem, CNN_FWD, VF_REALS, 0, 1, NULL, &err), CNN_OK);
    for (int i = 0; i < ALGORITHMS; i++) f->list[i] = (candidate){.session = &f->session, .algorithm = algorithms[i]};
}

static void tear_down(bench_fixture *f)
{
    candidates_close(f->list, ALGORITHMS);
    vf_case_free(&f->c);
    cnn_session_close(&f->session);
}

#endif
