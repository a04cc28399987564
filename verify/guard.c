/* guard.c: device buffers between guard bands. The front band ends and the back band begins with the buffer itself, to
 * the byte, so that one element or one byte too many is seen; the buffer keeps its alignment. */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD = 4096 }; /* a multiple of CNN_ALIGN */

/* A pattern without a period that a kernel would reproduce by copying. */
static unsigned char guard_byte(size_t i) { return (unsigned char)(0xA5u ^ (i * 37u + (i >> 8) * 101u)); }

static void put_guards(unsigned char *image, size_t bytes)
{
    for (size_t i = 0; i < GUARD; i++) {
        image[i] = guard_byte(i);
        image[GUARD + bytes + i] = guard_byte(i + GUARD);
    }
}

static int64_t find_damage(const unsigned char *image, size_t bytes)
{
    for (size_t i = 0; i < GUARD; i++) {
        if (image[GUARD + bytes + i] != guard_byte(i + GUARD)) return (int64_t)i + 1;
        if (image[GUARD - 1 - i] != guard_byte(GUARD - 1 - i)) return -(int64_t)i - 1;
    }
    return 0;
}

cnn_status vf_guarded_alloc(vf_guarded *g, const cnn_session *session, size_t bytes, cnn_error *err)
{
    *g = (vf_guarded){.bytes = bytes};
    if (bytes > SIZE_MAX - 2 * GUARD) return CNN_FAIL(err, CNN_OVERFLOW, "a buffer of %zu bytes has no guards", bytes);
    cnn_status status = cnn_mem_alloc(session, bytes + 2 * GUARD, &g->memory, err);
    if (status == CNN_OK) g->data = (char *)g->memory + GUARD;
    return status;
}

cnn_status vf_guarded_upload(const vf_guarded *g, const cnn_session *session, const void *content, cnn_error *err)
{
    unsigned char *image = malloc(g->bytes + 2 * GUARD);
    if (image == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to upload %zu bytes", g->bytes);
    put_guards(image, g->bytes);
    if (g->bytes > 0) memcpy(image + GUARD, content, g->bytes);
    cnn_status status = cnn_mem_upload(session, g->memory, image, g->bytes + 2 * GUARD, err);
    free(image);
    return status;
}

cnn_status vf_guarded_download(const vf_guarded *g, const cnn_session *session, void *content, int64_t *damage,
                               cnn_error *err)
{
    unsigned char *image = malloc(g->bytes + 2 * GUARD);
    if (image == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to download %zu bytes", g->bytes);
    cnn_status status = cnn_mem_download(session, image, g->memory, g->bytes + 2 * GUARD, err);
    if (status == CNN_OK) {
        *damage = find_damage(image, g->bytes);
        if (g->bytes > 0) memcpy(content, image + GUARD, g->bytes);
    }
    free(image);
    return status;
}

void vf_guarded_free(vf_guarded *g, const cnn_session *session)
{
    cnn_mem_free(session, g->memory);
    *g = (vf_guarded){0};
}
