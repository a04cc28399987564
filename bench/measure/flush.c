/* flush.c: on a CPU as many threads as the session has write a share each, so that the private caches of their cores
 * are emptied, too; on a device one fill does it. */
#include "parts.h"

#include "harness/base/clock.h"
#include "harness/cpu/limits.h"
#include "harness/cpu/threads.h"

#include <stdlib.h>
#include <string.h>

/* Twice the last-level caches; where its size cannot be had or is a device's, a size beyond any (126 MB, so far). */
static const size_t device_bytes = (size_t)256 << 20, host_least = (size_t)32 << 20, share_bytes = (size_t)16 << 20;

struct cache_flush {
    const cnn_session *session, *hands;
    thread_pool *pool; /* NULL: a device */
    int threads;
    unsigned char *buffer;
    size_t bytes;
    unsigned char value; /* another one each time: what does not change need not be written */
};

cnn_status cache_flush_open(const cnn_session *session, const cnn_session *hands, cache_flush **result, cnn_error *err)
{
    *result = NULL;
    cache_flush *flush = calloc(1, sizeof *flush);
    if (!flush) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to flush caches with");
    flush->session = session;
    flush->hands = hands;
    flush->threads = session->threads;
    flush->bytes = 2 * cpu_last_cache_bytes(host_least, session->threads);
    if (share_bytes * (size_t)flush->threads > flush->bytes) flush->bytes = share_bytes * (size_t)flush->threads;
    if (session->impl->memory) flush->bytes = device_bytes;
    void *memory = NULL;
    cnn_status status = cnn_mem_check(session, flush->bytes, err);
    if (status == CNN_OK) status = cnn_mem_alloc(session, flush->bytes, &memory, err);
    flush->buffer = memory;
    if (status == CNN_OK && !session->impl->memory) status = thread_pool_open(flush->threads, &flush->pool, err);
    if (status == CNN_OK)
        *result = flush;
    else
        cache_flush_close(flush);
    return status;
}

void cache_flush_close(cache_flush *flush)
{
    if (!flush) return;
    if (flush->pool) thread_pool_close(flush->pool);
    if (flush->buffer) cnn_mem_free(flush->session, flush->buffer);
    free(flush);
}

static void write_share(void *arg, int64_t task, int worker)
{
    const cache_flush *flush = arg;
    size_t share = flush->bytes / (size_t)flush->threads;
    (void)worker;
    memset(flush->buffer + (size_t)task * share, flush->value, share);
}

/* memset may use stores that bypass the caches and so empty nothing: the buffer is read back, too. */
static void read_share(void *arg, int64_t task, int worker)
{
    const cache_flush *flush = arg;
    size_t share = flush->bytes / (size_t)flush->threads;
    const volatile unsigned char *bytes = flush->buffer + (size_t)task * share;
    (void)worker;
    for (size_t i = 0; i < share; i += CNN_ALIGN) (void)bytes[i];
}

/* The session's own fill comes last: the run is launched while it still goes on. */
static cnn_status fill_device(const cache_flush *flush, cnn_error *err)
{
    cnn_status status = CNN_OK;
    if (flush->hands != flush->session) {
        status = cnn_mem_fill(flush->hands, flush->buffer, (unsigned char)~flush->value, flush->bytes, err);
        if (status == CNN_OK) status = cnn_sync(flush->hands, err);
    }
    return status == CNN_OK ? cnn_mem_fill(flush->session, flush->buffer, flush->value, flush->bytes, err) : status;
}

cnn_status cache_flush_run(cache_flush *flush, cnn_error *err)
{
    flush->value++;
    if (!flush->pool) return fill_device(flush, err);
    parallel_for(flush->pool, flush->threads, write_share, flush);
    parallel_for(flush->pool, flush->threads, read_share, flush);
    /* The pool's workers look out for more work for some microseconds before they sleep; until then they would take
     * cores from the kernel. Waiting awake keeps this core's clock up. */
    for (double start = cnn_now(); cnn_now() - start < 200e-6;) continue;
    return CNN_OK;
}
