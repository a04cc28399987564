/* plan.c: from a problem to a plan that can be run. The only way to a plan leads through the implementation's gate.
 *
 * What an implementation is handed is a copy, here and in run.c: const can be cast away, and what the harness holds a
 * kernel to (the problem, the arithmetic, the tolerance) must not be the kernel's to change. */
#include "call.h"
#include "harness/problem/names.h"
#include "impl.h"
#include "workspace_limit.h"

#include <math.h>
#include <string.h>

double cnn_workspace_most(const cnn_problem *problem, cnn_dir dir)
{
    cnn_operand operands[CNN_MAX_OPERANDS];
    cnn_error err;
    double most = 0x1p30 + 8 * cnn_flops(problem, dir);
    const int count = cnn_operands(problem, dir, operands, &err);
    for (int i = 0; i < count; i++) most += 1024 * (double)operands[i].bytes;
    return most;
}

static cnn_status check_workspace(const cnn_impl *impl, const cnn_problem *problem, cnn_dir dir,
                                  const cnn_algorithm *algorithm, size_t bytes, cnn_error *err)
{
    const double most = cnn_workspace_most(problem, dir);
    if ((double)bytes <= most) return CNN_OK;
    return CNN_FAIL(err, CNN_INTERNAL,
                    "%s:%s asks for %zu bytes of workspace, where this problem can need %.3g at most", impl->name,
                    algorithm->name, bytes, most);
}

/* A transform may need a wider rounding bound; how wide, verify/oracle/transforms.h says. Plain sums have 1. */
static cnn_status check_amplification(const cnn_impl *impl, const cnn_algorithm *a, cnn_error *err)
{
    const double factor = a->amplification;
    if (!(isfinite(factor) && factor >= 1.0))
        return CNN_FAIL(err, CNN_INTERNAL, "algorithm %s:%s has an amplification of %g; it must be a number from 1 up",
                        impl->name, a->name, factor);
    if (factor > 1.0 && !(a->flags & CNN_ALGO_TRANSFORMS))
        return CNN_FAIL(err, CNN_INTERNAL,
                        "algorithm %s:%s has an amplification of %g without TRANSFORMS; plain sums of products have 1",
                        impl->name, a->name, factor);
    return CNN_OK;
}

/* Takes over what `prepare` made of the plan it was offered. Its promise may become narrower, never wider. */
static cnn_status take_over(const cnn_impl *impl, const cnn_plan *offered, cnn_plan *plan, cnn_error *err)
{
    const cnn_algorithm *was = &plan->algorithm, *now = &offered->algorithm;
    plan->state = offered->state; /* first of all: it must be released */
    if (memcmp(&offered->problem, &plan->problem, sizeof plan->problem) != 0 || offered->dir != plan->dir)
        return CNN_FAIL(err, CNN_INTERNAL, "prepare of %s:%s changed the problem or the direction of its plan",
                        impl->name, was->name);
    if ((now->flags | CNN_ALGO_TRANSFORMS) != (was->flags | CNN_ALGO_TRANSFORMS) || (now->flags & ~was->flags) != 0)
        return CNN_FAIL(err, CNN_INTERNAL, "prepare of %s:%s changed its flags from %#x to %#x; it may drop TRANSFORMS",
                        impl->name, was->name, (unsigned)was->flags, (unsigned)now->flags);
    if (!(now->amplification <= was->amplification))
        return CNN_FAIL(err, CNN_INTERNAL, "prepare of %s:%s raised its amplification from %g to %g; it may lower it",
                        impl->name, was->name, was->amplification, now->amplification);
    plan->algorithm.flags = now->flags;
    plan->algorithm.amplification = now->amplification;
    plan->workspace_bytes = offered->workspace_bytes;
    memcpy(plan->choice, offered->choice, sizeof plan->choice - 1); /* its last byte stays 0 */
    return check_amplification(impl, &plan->algorithm, err);
}

cnn_status cnn_supports(const cnn_session *session, const cnn_problem *problem, cnn_dir dir,
                        const cnn_algorithm *algorithm, cnn_error *err)
{
    const cnn_problem its_problem = *problem;
    const cnn_algorithm its_algorithm = *algorithm;
    return CNN_CALL(session->impl, supports, err, session->context, &its_problem, dir, &its_algorithm, err);
}

cnn_status cnn_workspace(const cnn_session *session, const cnn_problem *problem, cnn_dir dir,
                         const cnn_algorithm *algorithm, size_t *bytes, cnn_error *err)
{
    const cnn_problem its_problem = *problem;
    const cnn_algorithm its_algorithm = *algorithm;
    *bytes = 0;
    if (session->impl->workspace == NULL) return CNN_OK;
    const cnn_status status =
        CNN_CALL(session->impl, workspace, err, session->context, &its_problem, dir, &its_algorithm, bytes, err);
    return status == CNN_OK ? check_workspace(session->impl, problem, dir, algorithm, *bytes, err) : status;
}

/* The gate. A refusal is asked for twice: one that is taken back was none. */
static cnn_status ask(const cnn_session *session, const cnn_problem *problem, cnn_dir dir,
                      const cnn_algorithm *algorithm, cnn_error *err)
{
    cnn_error again;
    const cnn_status status = cnn_supports(session, problem, dir, algorithm, err);
    if (status != CNN_UNSUPPORTED) return status;
    if (cnn_supports(session, problem, dir, algorithm, &again) != CNN_OK) return status;
    again = *err;
    return CNN_FAIL(err, CNN_INTERNAL, "%.64s: supports says no and then yes to the same question; no: %.300s",
                    session->impl->name, again.message);
}

/* `prepare` said no behind the gate. */
static cnn_status refused_late(const cnn_impl *impl, const cnn_algorithm *algorithm, cnn_error *err)
{
    const cnn_error why = *err;
    if (algorithm->flags & CNN_ALGO_MAY_REFUSE)
        return CNN_FAIL(err, CNN_UNSUPPORTED, CNN_REFUSED_LATE "prepare no: %.400s", why.message);
    return CNN_FAIL(err, CNN_INTERNAL,
                    CNN_REFUSED_LATE "prepare no, which is not its to say, as %.64s:%.64s is not MAY_REFUSE: %.200s",
                    impl->name, algorithm->name, why.message);
}

static cnn_status prepare(const cnn_session *session, cnn_plan *plan, cnn_error *err)
{
    const cnn_impl *impl = session->impl;
    cnn_plan offered;
    if (impl->prepare == NULL) return CNN_OK;
    memcpy(&offered, plan, sizeof offered);
    cnn_status status = CNN_CALL(impl, prepare, err, session->context, &offered, err);
    if (status == CNN_UNSUPPORTED) return refused_late(impl, &plan->algorithm, err);
    if (status != CNN_OK) return status;
    status = take_over(impl, &offered, plan, err);
    cnn_answer_text(plan->choice, sizeof plan->choice);
    if (status == CNN_OK)
        status = check_workspace(impl, &plan->problem, plan->dir, &plan->algorithm, plan->workspace_bytes, err);
    if (status != CNN_OK) cnn_plan_release(session, plan);
    return status;
}

cnn_status cnn_plan_make(const cnn_session *session, const cnn_problem *problem, cnn_dir dir,
                         const cnn_algorithm *algorithm, cnn_plan *plan, cnn_error *err)
{
    const cnn_impl *impl = session->impl;
    cnn_status status;
    memset(plan, 0, sizeof *plan);
    plan->problem = *problem;
    plan->dir = dir;
    plan->algorithm = *algorithm;
    if ((status = cnn_problem_check(problem, err)) != CNN_OK) return status;
    if (!(cnn_op_dirs(problem) & 1u << dir))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "operation %s has no direction %s", cnn_op_name(problem->op),
                        cnn_dir_name(dir));
    if (!(algorithm->ops & 1u << problem->op))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "algorithm %s:%s does not serve operation %s", impl->name,
                        algorithm->name, cnn_op_name(problem->op));
    if ((status = check_amplification(impl, algorithm, err)) != CNN_OK) return status;
    if ((status = ask(session, problem, dir, algorithm, err)) != CNN_OK) return status;
    status = cnn_workspace(session, problem, dir, algorithm, &plan->workspace_bytes, err);
    return status == CNN_OK ? prepare(session, plan, err) : status;
}

void cnn_plan_release(const cnn_session *session, cnn_plan *plan)
{
    cnn_plan its_plan = *plan;
    if (session->impl->prepare != NULL && plan->state != NULL)
        CNN_CALL_VOID(session->impl, release, session->context, &its_plan);
    plan->state = NULL;
}

/* `more` of them stand behind the first *count: they must fit, and each have a name of its own. */
static cnn_status take_enumerated(const cnn_impl *impl, const cnn_algorithm *list, int capacity, int more, int *count,
                                  cnn_error *err)
{
    const int first = *count;
    if (more < 0 || more > capacity - first)
        return CNN_FAIL(err, CNN_INTERNAL, "%s: enumerate says that it gave %d algorithms, where there was room for %d",
                        impl->name, more, capacity - first);
    for (int i = first; i < first + more; i++) {
        if (cnn_algorithm_check(impl->name, &list[i], err) != CNN_OK) return err->status = CNN_INTERNAL;
        for (int k = 0; k < i; k++)
            if (strcmp(list[i].name, list[k].name) == 0)
                return CNN_FAIL(err, CNN_INTERNAL, "%s: enumerate gave an algorithm '%s', which there is already",
                                impl->name, list[i].name);
    }
    *count += more;
    return CNN_OK;
}

cnn_status cnn_algorithms(const cnn_session *session, const cnn_problem *problem, cnn_dir dir, cnn_algorithm *list,
                          int capacity, int *count, cnn_error *err)
{
    const cnn_impl *impl = session->impl;
    *count = 0;
    for (int i = 0; i < impl->n_algorithms && *count < capacity; i++)
        if (impl->algorithms[i].ops & 1u << problem->op) list[(*count)++] = impl->algorithms[i];
    if (impl->enumerate == NULL) return CNN_OK;

    int more = 0;
    const cnn_problem its_problem = *problem;
    cnn_status status = CNN_CALL(impl, enumerate, err, session->context, &its_problem, dir, list + *count,
                                 capacity - *count, &more, err);
    return status == CNN_OK ? take_enumerated(impl, list, capacity, more, count, err) : status;
}

cnn_status cnn_algorithm_pick(const cnn_session *session, const cnn_problem *problem, cnn_dir dir, const char *name,
                              cnn_algorithm *algorithm, cnn_error *err)
{
    enum { CAPACITY = 128 };
    cnn_algorithm list[CAPACITY];
    int count;
    cnn_status status = cnn_algorithms(session, problem, dir, list, CAPACITY, &count, err);
    if (status != CNN_OK) return status;
    if (count == 0)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "implementation %s has no algorithm for operation %s",
                        session->impl->name, cnn_op_name(problem->op));

    for (int i = 0; name != NULL && i < count; i++) {
        if (strcmp(list[i].name, name) != 0) continue;
        *algorithm = list[i];
        return ask(session, problem, dir, algorithm, err);
    }
    for (int i = 0; i < count; i++) {
        *algorithm = list[i];
        status = ask(session, problem, dir, algorithm, err);
        if (status == CNN_OK) return CNN_OK;
    }
    return status;
}
