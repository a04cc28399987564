/* tables.h: the tables of a plug-in, to be written, for the cheats in C and in CUDA:
 *
 *   static void cheat(tables *t) { t->timing.stop = stop; }
 */
#ifndef CHEATS_TABLES_H
#define CHEATS_TABLES_H
#include <cnn.h>

/* A cheat needs few of the arguments that its functions get. In C++ the others stay unnamed. */
#ifndef __cplusplus
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

/* A table whose first function is NULL is not there. */
typedef struct tables {
    cnn_impl impl;
    cnn_operations ops;
    cnn_memory memory;
    cnn_timing timing;
    cnn_capture capture;
    cnn_profile profile;
    cnn_peaks peaks;
    cnn_trainers trainers;
} tables;

typedef cnn_status weighted_fn(cnn_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);

/* Sets all six slots of conv and FC. */
static inline void weighted(tables *t, weighted_fn *f)
{
    t->ops.conv_fwd = t->ops.conv_bwd_data = t->ops.conv_bwd_weights = f;
    t->ops.fc_fwd = t->ops.fc_bwd_data = t->ops.fc_bwd_weights = f;
}

/* Points impl to the other tables. */
static inline void join(tables *t)
{
    t->impl.ops = &t->ops;
    if (t->memory.alloc != NULL) t->impl.memory = &t->memory;
    if (t->timing.start != NULL) t->impl.timing = &t->timing;
    if (t->capture.begin != NULL) t->impl.capture = &t->capture;
    if (t->profile.open != NULL) t->impl.profile = &t->profile;
    if (t->peaks.open != NULL) t->impl.peaks = &t->peaks;
    if (t->trainers.supports != NULL) t->impl.trainers = &t->trainers;
}

#endif
