/* guard.h: a buffer, and what stands right before its first byte and right behind its last. */
#ifndef VERIFY_ORACLE_GUARD_H
#define VERIFY_ORACLE_GUARD_H

#include "case.h"
#include "harness/device/host.h"
#include "harness/device/impl.h"

/* Bands of a pattern, which tell who wrote there; bands that are NaN in every format, which spoil the results of who
 * reads there and uses it; a page that cannot be touched, behind the last byte or before the first, which tells who as
 * much as reads. Pages are for host memory alone. */
typedef enum vf_fence { VF_PATTERN, VF_NAN, VF_PAGE_BEHIND, VF_PAGE_BEFORE } vf_fence;

typedef struct vf_guarded {
    void *memory, *data; /* the allocation, the buffer in it (NULL for no bytes) */
    size_t bytes;
    vf_fence fence;
    size_t mapped; /* with pages: bytes of `memory`; else 0 */
} vf_guarded;
/* Of a session that has memory of its own, pages are bands of NaN. */
cnn_status vf_guarded_alloc(vf_guarded *g, const cnn_session *session, size_t bytes, vf_fence fence, cnn_error *err);
/* Uploads `content` (bytes of it) and fresh guards. */
cnn_status vf_guarded_upload(const vf_guarded *g, const cnn_session *session, const void *content, cnn_error *err);
/* What is changed of a band: how many bytes, the first and the last of them. Behind a buffer they are counted from its
 * end, 0 the first one; before it from its start, -1 the last one. */
typedef struct vf_band {
    int64_t changed, first, last;
    bool to_its_end; /* as far as the band goes: there may be more */
} vf_band;
typedef struct vf_damage {
    vf_band behind, before;
} vf_damage;
/* Downloads into `content`, and looks at the bands; pages have none. */
cnn_status vf_guarded_download(const vf_guarded *g, const cnn_session *session, void *content, vf_damage *damage,
                               cnn_error *err);
/* "wrote past y: 12 bytes beyond its end are changed, at +0 to +11"; "" for none. */
void vf_damage_text(const vf_damage *damage, const char *name, char *text, size_t size);
void vf_guarded_free(vf_guarded *g, const cnn_session *session);
/* The same, known by a name, and with what may be touched around it, for harness/process/bounds.h. */
bounds_array vf_guarded_bounds(const vf_guarded *g, const char *name, bool on_device);

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
