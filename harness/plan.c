/* plan.c: from a problem to a plan that can be run. The only way to a plan leads through the implementation's gate. */
#include "call.h"
#include "impl.h"
#include "names.h"

#include <string.h>

/* Columns, padded copies and transforms grow with the operands and with the arithmetic. Far more than these is no need
 * of the problem, and would only make it too large to be tried. */
static cnn_status check_workspace(const cnn_impl *impl, const cnn_problem *problem, cnn_dir dir,
                                  const cnn_algorithm *algorithm, size_t bytes, cnn_error *err)
{
    cnn_operand operands[CNN_MAX_OPERANDS];
    double most = 0x1p30 + 8 * cnn_flops(problem, dir);
    const int count = cnn_operands(problem, dir, operands, err);
    for (int i = 0; i < count; i++) most += 1024 * (double)operands[i].bytes;
    if ((double)bytes <= most) return CNN_OK;
    return CNN_FAIL(err, CNN_INTERNAL,
                    "%s:%s asks for %zu bytes of workspace, where this problem can need %.3g at most", impl->name,
                    algorithm->name, bytes, most);
}

cnn_status cnn_workspace_asked(const cnn_session *session, const cnn_problem *problem, cnn_dir dir,
                               const cnn_algorithm *algorithm, size_t *bytes, cnn_error *err)
{
    const cnn_impl *impl = session->impl;
    *bytes = 0;
    if (impl->workspace == NULL) return CNN_OK;
    const cnn_status status = CNN_CALL(impl, workspace, err, session->context, problem, dir, algorithm, bytes, err);
    return status == CNN_OK ? check_workspace(impl, problem, dir, algorithm, *bytes, err) : status;
}

/* The gate. A refusal is asked for twice: one that is taken back was none. */
static cnn_status ask(const cnn_session *session, const cnn_problem *problem, cnn_dir dir,
                      const cnn_algorithm *algorithm, cnn_error *err)
{
    const cnn_impl *impl = session->impl;
    cnn_error again;
    const cnn_status status = CNN_CALL(impl, supports, err, session->context, problem, dir, algorithm, err);
    if (status != CNN_UNSUPPORTED) return status;
    if (CNN_CALL(impl, supports, &again, session->context, problem, dir, algorithm, &again) != CNN_OK) return status;
    again = *err;
    return CNN_FAIL(err, CNN_INTERNAL, "%.64s: supports says no and then yes to the same question; no: %.300s",
                    impl->name, again.message);
}

/* `status` of a slot behind the gate. */
static cnn_status late(const char *slot, cnn_status status, cnn_error *err)
{
    if (status != CNN_UNSUPPORTED) return status;
    const cnn_error why = *err;
    return CNN_FAIL(err, CNN_UNSUPPORTED, CNN_REFUSED_LATE "%s no: %.400s", slot, why.message);
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
    if ((status = ask(session, problem, dir, algorithm, err)) != CNN_OK) return status;
    status = late("workspace", cnn_workspace_asked(session, problem, dir, algorithm, &plan->workspace_bytes, err), err);
    if (status != CNN_OK || impl->prepare == NULL) return status;
    status = late("prepare", CNN_CALL(impl, prepare, err, session->context, plan, err), err);
    if (status != CNN_OK) return status;
    cnn_answer_text(plan->choice, sizeof plan->choice);
    status = check_workspace(impl, problem, dir, &plan->algorithm, plan->workspace_bytes, err);
    if (status != CNN_OK) cnn_plan_release(session, plan);
    return status;
}

void cnn_plan_release(const cnn_session *session, cnn_plan *plan)
{
    if (session->impl->prepare != NULL && plan->state != NULL)
        CNN_CALL_VOID(session->impl, release, session->context, plan);
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
    cnn_status status =
        CNN_CALL(impl, enumerate, err, session->context, problem, dir, list + *count, capacity - *count, &more, err);
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
