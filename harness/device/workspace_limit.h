/* workspace_limit.h: the knob workspace_limit, which every implementation has that takes workspace, and which
 * --workspace-limit sets: the most MiB that a convolution or FC may take. Included by C and C++. */
#ifndef HARNESS_DEVICE_WORKSPACE_LIMIT_H
#define HARNESS_DEVICE_WORKSPACE_LIMIT_H

#include "harness/cnn/plan.h"

/* Its row in a knobs.inc. */
#define CNN_KNOB_WORKSPACE_LIMIT(KNOB)                                                                                 \
    KNOB(WORKSPACE_LIMIT, "workspace_limit",                                                                           \
         "most MiB of workspace that a convolution or FC may take; 0: none; -1: no limit", -1, 1 << 20, -1)

/* In bytes; SIZE_MAX without a limit. */
static inline size_t cnn_workspace_limit(int64_t mib) { return mib >= 0 ? (size_t)mib << 20 : SIZE_MAX; }

static inline cnn_status cnn_workspace_check(int64_t mib, size_t bytes, cnn_error *err)
{
    if (bytes <= cnn_workspace_limit(mib)) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "%zu bytes of workspace are needed, and the knob workspace_limit allows %zu",
                    bytes, cnn_workspace_limit(mib));
}

/* Columns, padded copies and transforms grow with the operands and with the arithmetic. Far more than these is no need
 * of the problem, and would only make it too large to be tried: `supports` is to refuse that. */
#ifdef __cplusplus
extern "C"
#endif
    double
    cnn_workspace_most(const cnn_problem *problem, cnn_dir dir);

#endif
