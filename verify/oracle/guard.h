/* guard.h: a device buffer between two guard bands that touch its first and its last byte. */
#ifndef VERIFY_ORACLE_GUARD_H
#define VERIFY_ORACLE_GUARD_H

#include "case.h"
#include "harness/device/impl.h"

typedef struct vf_guarded {
    void *memory, *data; /* the allocation, the buffer in it (NULL for no bytes) */
    size_t bytes;
} vf_guarded;
cnn_status vf_guarded_alloc(vf_guarded *g, const cnn_session *session, size_t bytes, cnn_error *err);
/* Uploads `content` (bytes of it) and fresh guards. */
cnn_status vf_guarded_upload(const vf_guarded *g, const cnn_session *session, const void *content, cnn_error *err);
/* Downloads into `content`; *damage is 0, or the distance of the nearest overwritten guard byte: -1 the byte just
 * before the buffer, 1 the one just after it. */
cnn_status vf_guarded_download(const vf_guarded *g, const cnn_session *session, void *content, int64_t *damage,
                               cnn_error *err);
void vf_guarded_free(vf_guarded *g, const cnn_session *session);

/* glimpse.c: what a run's outputs are for the very next thing on the device's stream. Operations are ordered on it: a
 * copy that is queued behind a run must see all of its results. One that works on another stream and never joins it is
 * found so, though its results are complete by the time that the host reads them. */
#define VF_GLIMPSE_LATE "had not all of %s ready for what came next on the context's stream: launch there, or join it"

typedef struct vf_glimpse {
    void *memory[CNN_MAX_OPERANDS]; /* on the device, for the last bytes of each output; NULL: of an input */
    size_t bytes[CNN_MAX_OPERANDS];
} vf_glimpse;
/* On the host there is no stream: nothing is done there. What is open already, all zeros at first, stays as it is: what
 * is freed between two runs tells an implementation that its buffers may be others now. */
cnn_status vf_glimpse_open(vf_glimpse *g, const cnn_session *session, const vf_call *call, cnn_error *err);
void vf_glimpse_close(vf_glimpse *g, const cnn_session *session);
/* Before a run, through `by`: what is left of an earlier run would look as complete. Then waits for that. */
cnn_status vf_glimpse_spoil(const vf_glimpse *g, const cnn_session *by, const vf_call *call, void *const *pointers,
                            int byte, cnn_error *err);
/* Right behind the run, before a sync. */
cnn_status vf_glimpse_take(const vf_glimpse *g, const cnn_session *session, const vf_call *call, void *const *pointers,
                           cnn_error *err);
/* After a sync, read by `by`: the name of an output that was not complete then, or NULL. */
cnn_status vf_glimpse_judge(const vf_glimpse *g, const cnn_session *by, const vf_call *call, void *const *pointers,
                            const char **late, cnn_error *err);

#endif
