/* schedule.c: from the network to lists of calls: one for each mode and batch size that occurs, and one for the update.
 */
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "parts.h"

/* All operations without an algorithm are named at once. */
static cnn_status check_operations(const cnn_trainer *t, cnn_error *err)
{
    enum { CAPACITY = 128 };
    cnn_algorithm list[CAPACITY];
    unsigned asked = 0;
    char missing[200] = "";
    for (int l = 0; l <= t->net->n_layers; l++) {
        cnn_problem problem = {.op = CNN_OP_OPTIMIZER, .u.optimizer = t->loop->optimizer};
        if (l < t->net->n_layers) problem = cnn_net_problem(t->net, l, t->net->batch, false);
        int count = 1;
        const bool said = (asked & 1u << problem.op) != 0;
        const cnn_status status =
            said ? CNN_OK : cnn_algorithms(t->session, &problem, CNN_FWD, list, CAPACITY, &count, err);
        if (status != CNN_OK) return status;
        asked |= 1u << problem.op;
        if (count == 0) cnn_append(missing, sizeof missing, "%s%s", *missing ? ", " : "", cnn_op_name(problem.op));
    }
    if (*missing == '\0') return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED,
                    "implementation %s has no algorithm for %s, which network %s needs: --impl A+B takes from B what A "
                    "lacks",
                    t->session->impl->name, missing, t->net->name);
}

static cnn_status schedule_forward(cnn_trainer *t, call_list *list, int64_t mb, bool inference, cnn_error *err)
{
    for (int l = 0; l < t->net->n_layers; l++) {
        bool fused;
        cnn_status status = step_add_fused(t, list, l, mb, &fused, err);
        if (status == CNN_OK && !fused) status = step_add_call(t, list, l, CNN_FWD, mb, inference, NULL, 0.0, err);
        if (status != CNN_OK) return status;
        l += fused;
    }
    return CNN_OK;
}

static cnn_status schedule_batch(cnn_trainer *t, int lane, int index, int64_t mb, bool trains, bool tests,
                                 cnn_error *err)
{
    step_batch *batch = &t->batches[lane][index];
    cnn_status status = CNN_OK;
    batch->mb = mb;
    if (trains) status = schedule_forward(t, &batch->calls[TRAIN], mb, false, err);
    if (trains && status == CNN_OK) status = step_schedule_backward(t, batch, err);
    if (trains && status == CNN_OK) step_take_out_copies(&batch->calls[TRAIN]);
    if (tests && status == CNN_OK) status = schedule_forward(t, &batch->calls[TEST], mb, true, err);
    return status;
}

/* Which batch sizes occur: the full one; the remainder of the training images; the remainder of the test images (all
 * of them where there are fewer than a batch). Lanes differ in the images' buffer alone, and share the plans. */
cnn_status step_schedule(cnn_trainer *t, cnn_error *err)
{
    const int64_t full = t->net->batch, train = t->loop->count[TRAIN] % full, test = t->loop->count[TEST] % full;
    const int64_t sizes[MAX_BATCHES] = {full, train, test == train ? 0 : test};
    cnn_status status = check_operations(t, err);
    for (int i = 0; i < MAX_BATCHES; i++) {
        if (sizes[i] == 0) continue;
        const bool trains = sizes[i] == full || sizes[i] == train, tests = sizes[i] == full || sizes[i] == test;
        for (int lane = 0; lane < t->n_lists && status == CNN_OK; lane++)
            status = schedule_batch(t, lane, t->n_batches, sizes[i], trains, tests, err);
        t->n_batches++;
    }
    if (status == CNN_OK && t->net->trained_elems > 0) status = step_add_update(t, &t->update, err);
    return status;
}

step_batch *step_find_batch(cnn_trainer *t, int lane, int64_t mb, int mode, cnn_error *err)
{
    for (int i = 0; i < t->n_batches; i++) {
        step_batch *b = &t->batches[lane][i];
        if (b->mb == mb && b->calls[mode].count > 0) return b;
    }
    CNN_FAIL(err, CNN_BAD_ARGUMENT, "a step on %lld images was not planned for", (long long)mb);
    return NULL;
}
