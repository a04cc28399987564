/* joined_slots.c: what a joined implementation's slots do: the one whose the plan is has its turn; memory, clock and
 * laps are B's. */
#include "joined.h"

#include "call.h"
#include "slots.h"

#include <string.h>

cnn_status joined_turn(joined_pair *c, int which, cnn_error *err)
{
    const cnn_impl *before = joined_of(c, c->last);
    const int last = c->last;
    c->last = which;
    if (last == which || before->sync == NULL) return CNN_OK;
    return CNN_CALL(before, sync, err, c->of[last], err);
}

const int64_t *joined_knobs(const joined *j, int which, const int64_t *knobs)
{
    return knobs + (which == 1 ? j->of[0]->n_knobs : 0);
}

void joined_plan(const joined_pair *c, const cnn_plan *plan, const joined_part *p, cnn_plan *its)
{
    memcpy(its, plan, sizeof *its);
    its->algorithm = p->algorithm;
    its->knobs = joined_knobs(c->self, p->which, plan->knobs);
    its->state = p->state;
}

static cnn_status sync_both(cnn_context *context, cnn_error *err)
{
    joined_pair *c = (joined_pair *)context;
    cnn_status status = CNN_OK;
    for (int i = 0; i < 2 && status == CNN_OK; i++)
        if (joined_of(c, i)->sync != NULL) status = CNN_CALL(joined_of(c, i), sync, err, c->of[i], err);
    return status;
}

/* ---- Operations. */

#define RUN(slot, args)                                                                                                \
    static cnn_status slot(cnn_context *context, const cnn_plan *plan, const args *a, cnn_error *err)                  \
    {                                                                                                                  \
        joined_pair *c = (joined_pair *)context;                                                                       \
        const joined_part *p = plan->state;                                                                            \
        const cnn_impl *impl = joined_of(c, p->which);                                                                 \
        cnn_plan its;                                                                                                  \
        if (impl->ops->slot == NULL)                                                                                   \
            return CNN_FAIL(err, CNN_UNSUPPORTED, "implementation %s has no " #slot, impl->name);                      \
        if (joined_turn(c, p->which, err) != CNN_OK) return err->status;                                               \
        joined_plan(c, plan, p, &its);                                                                                 \
        return CNN_CALL(impl, ops->slot, err, c->of[p->which], &its, a, err);                                          \
    }
CNN_SLOTS(RUN)

/* What B alone does, whose the memory is: gathering, and the bias of transposed convolutions. */
static cnn_status gather(cnn_context *context, const cnn_gather_args *a, cnn_error *err)
{
    joined_pair *c = (joined_pair *)context;
    if (joined_turn(c, 1, err) != CNN_OK) return err->status;
    return CNN_CALL(joined_of(c, 1), ops->gather, err, c->of[1], a, err);
}

#define RUN_BIAS(slot)                                                                                                 \
    static cnn_status slot(cnn_context *context, const cnn_plan *plan, const cnn_bias_args *a, cnn_error *err)         \
    {                                                                                                                  \
        joined_pair *c = (joined_pair *)context;                                                                       \
        const joined_part b = {.which = 1, .algorithm = plan->algorithm};                                              \
        cnn_plan its;                                                                                                  \
        if (joined_turn(c, 1, err) != CNN_OK) return err->status;                                                      \
        joined_plan(c, plan, &b, &its);                                                                                \
        return CNN_CALL(joined_of(c, 1), ops->slot, err, c->of[1], &its, a, err);                                      \
    }
RUN_BIAS(bias_add)
RUN_BIAS(bias_gradient)

/* ---- Memory, clock, laps, and copies to the host: B's. */

#define OF_B(table, slot, parameters, ...)                                                                             \
    static cnn_status table##_##slot parameters                                                                        \
    {                                                                                                                  \
        joined_pair *c = (joined_pair *)context;                                                                       \
        if (joined_turn(c, 1, err) != CNN_OK) return err->status;                                                      \
        return CNN_CALL(joined_of(c, 1), table->slot, err, c->of[1], __VA_ARGS__, err);                                \
    }
OF_B(memory, alloc, (cnn_context * context, size_t bytes, void **memory, cnn_error *err), bytes, memory)
OF_B(memory, upload, (cnn_context * context, void *dst, const void *src, size_t bytes, cnn_error *err), dst, src, bytes)
OF_B(memory, download, (cnn_context * context, void *dst, const void *src, size_t bytes, cnn_error *err), dst, src,
     bytes)
OF_B(memory, copy, (cnn_context * context, void *dst, const void *src, size_t bytes, cnn_error *err), dst, src, bytes)
OF_B(memory, fill, (cnn_context * context, void *dst, int byte, size_t bytes, cnn_error *err), dst, byte, bytes)
OF_B(memory, available, (cnn_context * context, size_t *bytes, cnn_error *err), bytes)
OF_B(timing, stop, (cnn_context * context, double *seconds, cnn_error *err), seconds)
OF_B(profile, open, (cnn_context * context, cnn_laps **laps, cnn_error *err), laps)
OF_B(profile, use, (cnn_context * context, cnn_laps *laps, cnn_error *err), laps)
OF_B(profile, lap, (cnn_context * context, const char *phase, cnn_error *err), phase)
OF_B(profile, read, (cnn_context * context, cnn_laps *laps, const cnn_lap **list, int *count, cnn_error *err), laps,
     list, count)
OF_B(offloads, open, (cnn_context * context, int count, size_t bytes, cnn_offload **o, void **host, cnn_error *err),
     count, bytes, o, host)
OF_B(offloads, begin, (cnn_context * context, cnn_offload *o, int index, const cnn_offload_copy *copy, cnn_error *err),
     o, index, copy)
OF_B(offloads, wait, (cnn_context * context, cnn_offload *o, int index, cnn_error *err), o, index)

static cnn_status timing_start(cnn_context *context, cnn_error *err)
{
    joined_pair *c = (joined_pair *)context;
    if (joined_turn(c, 1, err) != CNN_OK) return err->status;
    return CNN_CALL(joined_of(c, 1), timing->start, err, c->of[1], err);
}

static void memory_free(cnn_context *context, void *memory)
{
    joined_pair *c = (joined_pair *)context;
    CNN_CALL_VOID(joined_of(c, 1), memory->free, c->of[1], memory);
}

static void profile_close(cnn_context *context, cnn_laps *laps)
{
    joined_pair *c = (joined_pair *)context;
    CNN_CALL_VOID(joined_of(c, 1), profile->close, c->of[1], laps);
}

static void offloads_close(cnn_context *context, cnn_offload *o)
{
    joined_pair *c = (joined_pair *)context;
    CNN_CALL_VOID(joined_of(c, 1), offloads->close, c->of[1], o);
}

static const cnn_memory joined_memory = {memory_alloc, memory_free, memory_upload,   memory_download,
                                         memory_copy,  memory_fill, memory_available};
static const cnn_timing joined_timing = {timing_start, timing_stop};
static const cnn_profile joined_profile = {profile_open, profile_close, profile_use, profile_lap, profile_read};
static const cnn_offloads joined_offloads = {offloads_open, offloads_close, offloads_begin, offloads_wait};

void joined_put_slots(joined *j)
{
    const cnn_impl *b = j->of[1];
    j->ops = (cnn_operations){.struct_size = sizeof j->ops};
#define PUT(slot, args) j->ops.slot = slot;
    CNN_SLOTS(PUT)
#undef PUT
    if (b->ops->gather != NULL) j->ops.gather = gather;
    if (b->ops->bias_add != NULL) j->ops.bias_add = bias_add;
    if (b->ops->bias_gradient != NULL) j->ops.bias_gradient = bias_gradient;
    if (j->of[0]->sync != NULL || b->sync != NULL) j->impl.sync = sync_both;
    j->impl.ops = &j->ops;
    if (b->memory != NULL) j->impl.memory = &joined_memory;
    if (b->timing != NULL) j->impl.timing = &joined_timing;
    if (b->profile != NULL) j->impl.profile = &joined_profile;
    if (b->offloads != NULL) j->impl.offloads = &joined_offloads;
}
