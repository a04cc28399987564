/* guard.h: a device buffer between two guard bands that touch its first and its last byte. */
#ifndef VERIFY_ORACLE_GUARD_H
#define VERIFY_ORACLE_GUARD_H

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

#endif
