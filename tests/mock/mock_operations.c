/* mock_operations.c: operations on the mock: written down, and run by the CPU's slot of the same name. */
#include "mock_parts.h"

#include <string.h>

static cnn_status launch(cnn_context *context, const call *c, cnn_error *err)
{
    const cnn_status status = mock_launch(mock_of(context), c, err);
    return status == CNN_OK ? mock_lap(context, "kernel", err) : status;
}

#define OPERATIONS(X)                                                                                                  \
    X(conv_fwd, weighted, cnn_weighted_args)                                                                           \
    X(conv_bwd_data, weighted, cnn_weighted_args)                                                                      \
    X(conv_bwd_weights, weighted, cnn_weighted_args)                                                                   \
    X(fc_fwd, weighted, cnn_weighted_args)                                                                             \
    X(fc_bwd_data, weighted, cnn_weighted_args)                                                                        \
    X(fc_bwd_weights, weighted, cnn_weighted_args)                                                                     \
    X(pool_fwd, map_fwd, cnn_map_fwd_args)                                                                             \
    X(pool_bwd, map_bwd, cnn_map_bwd_args)                                                                             \
    X(act_fwd, map_fwd, cnn_map_fwd_args)                                                                              \
    X(act_bwd, map_bwd, cnn_map_bwd_args)                                                                              \
    X(dropout_fwd, map_fwd, cnn_map_fwd_args)                                                                          \
    X(dropout_bwd, map_bwd, cnn_map_bwd_args)                                                                          \
    X(loss_fwd, loss, cnn_loss_args)                                                                                   \
    X(loss_bwd, loss, cnn_loss_args)                                                                                   \
    X(add_fwd, join, cnn_join_args)                                                                                    \
    X(concat_fwd, join, cnn_join_args)                                                                                 \
    X(concat_bwd, split, cnn_split_args)                                                                               \
    X(batchnorm_fwd, batchnorm, cnn_batchnorm_args)                                                                    \
    X(batchnorm_bwd, batchnorm, cnn_batchnorm_args)                                                                    \
    X(optimizer_step, optimizer, cnn_optimizer_args)

#define X(slot, field, type)                                                                                           \
    static cnn_status run_##slot(mock *m, const call *c, cnn_error *err)                                               \
    {                                                                                                                  \
        return cnn_impl_cpu()->ops->slot(m->cpu, &c->plan, &c->args.field, err);                                       \
    }                                                                                                                  \
    static cnn_status mock_##slot(cnn_context *context, const cnn_plan *plan, const type *args, cnn_error *err)        \
    {                                                                                                                  \
        const call c = {.run = run_##slot, .plan = *plan, .planned = true, .args.field = *args};                       \
        return launch(context, &c, err);                                                                               \
    }
OPERATIONS(X)
#undef X

static cnn_status run_gather(mock *m, const call *c, cnn_error *err)
{
    return cnn_impl_cpu()->ops->gather(m->cpu, &c->args.gather, err);
}

static cnn_status mock_gather(cnn_context *context, const cnn_gather_args *args, cnn_error *err)
{
    const call c = {.run = run_gather, .args.gather = *args};
    return launch(context, &c, err);
}

static cnn_status run_copy(mock *m, const call *c, cnn_error *err)
{
    memcpy(c->args.copy.dst, c->args.copy.src, c->args.copy.bytes);
    return CNN_OK;
}

cnn_status mock_copy(cnn_context *context, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    const call c = {.run = run_copy, .args.copy = {.dst = dst, .src = src, .bytes = bytes}};
    return launch(context, &c, err);
}

static cnn_status run_fill(mock *m, const call *c, cnn_error *err)
{
    memset(c->args.copy.dst, c->args.copy.byte, c->args.copy.bytes);
    return CNN_OK;
}

cnn_status mock_fill(cnn_context *context, void *dst, int byte, size_t bytes, cnn_error *err)
{
    const call c = {.run = run_fill, .args.copy = {.dst = dst, .byte = byte, .bytes = bytes}};
    return launch(context, &c, err);
}

const cnn_operations mock_operations = {.struct_size = sizeof(cnn_operations),
#define X(slot, field, type) .slot = mock_##slot,
                                        OPERATIONS(X)
#undef X
                                            .gather = mock_gather};
