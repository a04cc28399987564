/* run.h: runs of an implementation on a case, in guarded buffers. */
#ifndef VERIFY_RUN_H
#define VERIFY_RUN_H

#include "verify/oracle/case.h"
#include "verify/oracle/glimpse.h"
#include "verify/oracle/guard.h"

/* Where runs take place: each buffer is made at the first of them that needs it, and stays at its address. So a kernel
 * that keeps something by address finds other data there. */
typedef struct vf_place {
    const cnn_session *session;
    const cnn_plan *plan;
    vf_guarded buffer[CNN_MAX_OPERANDS], workspace;
    vf_glimpse glimpse;
} vf_place;
/* Frees the buffers; the next run makes others. */
void vf_place_leave(vf_place *place);

/* Bytes: NaN in every format, or large finite numbers. */
extern const int vf_garbage[2];
typedef struct vf_run_options {
    int garbage;   /* which of the two patterns poisons outputs and workspace: 0 or 1 */
    bool in_place; /* y in x's buffer, dx in dy's; only where cnn.h allows it */
} vf_run_options;

cnn_status vf_run_make(vf_run *run, vf_place *place, const vf_case *c, const vf_run_options *options, cnn_error *err);
/* NULL, or the name of the first output whose bits differ; *index says where (canonical order is not kept: bytes). */
const char *vf_run_difference(const vf_case *c, const vf_run *a, const vf_run *b);

#endif
