/* guard.c: buffers between guard bands. The front band ends and the back band begins with the buffer itself, to
 * the byte, so that one element or one byte too many is seen; the buffer keeps its alignment. */
#include "guard.h"

#include "harness/base/text.h"

#include <string.h>
#include <unistd.h>

enum { GUARD = 4096 }; /* a multiple of CNN_ALIGN */

/* Both bands, the front one first. The pattern has no period that a kernel would reproduce by copying: in each 256
 * bytes it begins elsewhere. */
static void make_guards(const vf_guarded *g, unsigned char guards[2 * GUARD])
{
    enum { BLOCK = 256 };
    if (g->fence != VF_PATTERN) {
        memset(guards, 0xFF, 2 * GUARD);
        return;
    }
    for (unsigned block = 0; block < 2 * GUARD / BLOCK; block++)
        for (unsigned i = 0; i < BLOCK; i++)
            guards[block * BLOCK + i] = (unsigned char)(0xA5u ^ (unsigned char)(i * 37u + block * 101u));
}

/* Of one of both bands; its bytes are counted from `origin`. */
static vf_band find_damage(const unsigned char whole[2 * GUARD], const unsigned char guards[2 * GUARD], size_t from,
                           int64_t origin)
{
    vf_band band = {.changed = 0};
    if (memcmp(whole + from, guards + from, GUARD) == 0) return band;
    for (size_t i = from; i < from + GUARD; i++) {
        const int64_t at = (int64_t)i - origin;
        if (guards[i] == whole[i]) continue;
        if (band.changed++ == 0) band.first = at;
        band.last = at;
        band.to_its_end = band.to_its_end || i == 0 || i == 2 * GUARD - 1;
    }
    return band;
}

static void add_band(const vf_band *band, const char *where, char *text, size_t size)
{
    const bool one = band->changed == 1;
    cnn_append(text, size, "%s%lld byte%s %s %s changed, at %+lld", band->to_its_end ? "at least " : "",
               (long long)band->changed, one ? "" : "s", where, one ? "is" : "are", (long long)band->first);
    if (!one) cnn_append(text, size, " to %+lld", (long long)band->last);
}

void vf_damage_text(const vf_damage *d, const char *name, char *text, size_t size)
{
    const bool behind = d->behind.changed > 0, before = d->before.changed > 0;
    text[0] = '\0';
    if (behind) cnn_append(text, size, "wrote past %s: ", name);
    if (behind) add_band(&d->behind, "beyond its end", text, size);
    if (before) cnn_append(text, size, "%swrote before %s: ", behind ? "; and " : "", name);
    if (before) add_band(&d->before, "before its start", text, size);
}

/* ---- Pages before and behind a buffer that cannot be touched. */

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static size_t whole_pages(size_t bytes) { return (bytes + page_size() - 1) / page_size() * page_size(); }

/* So far around a buffer's pages nothing can be touched. */
static size_t fence_bytes(void) { return 64 * page_size(); }

/* Behind: the end is at a page's end, but for what the alignment leaves. */
static cnn_status fenced_alloc(vf_guarded *g, const cnn_session *session, size_t bytes, cnn_error *err)
{
    if (bytes > SIZE_MAX / 2) return CNN_FAIL(err, CNN_OVERFLOW, "a buffer of %zu bytes has no pages around it", bytes);
    const size_t fence = fence_bytes(), inner = whole_pages(bytes > 0 ? bytes : 1);
    const size_t aligned = (bytes + CNN_ALIGN - 1) / CNN_ALIGN * CNN_ALIGN;
    const cnn_status status = host_fenced_alloc(session, inner, fence, &g->memory, err);
    if (status != CNN_OK) return status;
    g->mapped = inner + 2 * fence;
    g->data = (char *)g->memory + fence + (g->fence == VF_PAGE_BEHIND ? inner - aligned : 0);
    return CNN_OK;
}

bounds_array vf_guarded_bounds(const vf_guarded *g, const char *name, bool on_device)
{
    const size_t closed = g->mapped > 0 ? fence_bytes() : 0;
    const size_t all = g->mapped > 0 ? g->mapped : g->bytes + 2 * GUARD;
    bounds_array a = {.data = (uintptr_t)g->data,
                      .bytes = g->bytes,
                      .first = (uintptr_t)g->memory + closed,
                      .last = (uintptr_t)g->memory + all - closed,
                      .closed = closed,
                      .on_device = on_device};
    snprintf(a.name, sizeof a.name, "%s", name);
    return a;
}

/* ---- Buffers. */

cnn_status vf_guarded_alloc(vf_guarded *g, const cnn_session *session, size_t bytes, vf_fence fence, cnn_error *err)
{
    *g = (vf_guarded){.bytes = bytes, .fence = fence};
    if (fence >= VF_PAGE_BEHIND && session->impl->memory == NULL) return fenced_alloc(g, session, bytes, err);
    if (bytes > SIZE_MAX - 2 * GUARD) return CNN_FAIL(err, CNN_OVERFLOW, "a buffer of %zu bytes has no guards", bytes);
    cnn_status status = cnn_mem_alloc(session, bytes + 2 * GUARD, &g->memory, err);
    if (status == CNN_OK) g->data = (char *)g->memory + GUARD;
    return status;
}

/* The bands apart from the buffer, so that nothing large is copied twice. */
cnn_status vf_guarded_upload(const vf_guarded *g, const cnn_session *session, const void *content, cnn_error *err)
{
    unsigned char guards[2 * GUARD];
    if (g->mapped > 0) {
        if (g->bytes > 0) memcpy(g->data, content, g->bytes);
        return CNN_OK;
    }
    make_guards(g, guards);
    cnn_status status = cnn_mem_upload(session, g->memory, guards, GUARD, err);
    if (status == CNN_OK && g->bytes > 0) status = cnn_mem_upload(session, g->data, content, g->bytes, err);
    if (status == CNN_OK) status = cnn_mem_upload(session, (char *)g->data + g->bytes, guards + GUARD, GUARD, err);
    return status;
}

cnn_status vf_guarded_download(const vf_guarded *g, const cnn_session *session, void *content, vf_damage *damage,
                               cnn_error *err)
{
    unsigned char guards[2 * GUARD], whole[2 * GUARD];
    *damage = (vf_damage){.behind = {.changed = 0}};
    if (g->mapped > 0) {
        if (g->bytes > 0) memcpy(content, g->data, g->bytes);
        return CNN_OK;
    }
    cnn_status status = cnn_mem_download(session, guards, g->memory, GUARD, err);
    if (status == CNN_OK && g->bytes > 0) status = cnn_mem_download(session, content, g->data, g->bytes, err);
    if (status == CNN_OK) status = cnn_mem_download(session, guards + GUARD, (char *)g->data + g->bytes, GUARD, err);
    if (status != CNN_OK) return status;
    make_guards(g, whole);
    damage->before = find_damage(whole, guards, 0, GUARD);
    damage->behind = find_damage(whole, guards, GUARD, GUARD);
    return CNN_OK;
}

void vf_guarded_free(vf_guarded *g, const cnn_session *session)
{
    if (g->mapped > 0)
        host_fenced_free(session, g->memory, g->mapped);
    else
        cnn_mem_free(session, g->memory);
    *g = (vf_guarded){0};
}
