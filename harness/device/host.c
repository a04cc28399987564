/* host.c: see host.h. */
#include "host.h"

#include "harness/cpu/busy.h"
#include "separate.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/mman.h>

cnn_status host_fenced_alloc(const cnn_session *session, size_t inner, size_t fence, void **memory, cnn_error *err)
{
    const size_t all = inner + 2 * fence;
    if (separate_of(session->impl) != NULL) return separate_take(session, all, fence, inner, memory, err);
    *memory = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const bool mapped = *memory != MAP_FAILED;
    if (mapped && mprotect((char *)*memory + fence, inner, PROT_READ | PROT_WRITE) == 0) return CNN_OK;
    if (mapped) munmap(*memory, all);
    *memory = NULL;
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %zu bytes between pages that cannot be touched", inner);
}

void host_fenced_free(const cnn_session *session, void *memory, size_t all)
{
    if (separate_of(session->impl) != NULL)
        separate_give(session, memory);
    else
        munmap(memory, all);
}

cnn_status host_bounds_begin(const cnn_session *session, bounds_list *b, cnn_error *err)
{
    if (separate_of(session->impl) != NULL) return separate_bounds_begin(session, b, err);
    bounds_begin(b);
    return CNN_OK;
}

cnn_status host_bounds_end(const cnn_session *session, bounds_list *b, cnn_error *err)
{
    if (separate_of(session->impl) != NULL) return separate_bounds_end(session, b, err);
    bounds_end(b);
    return CNN_OK;
}

int64_t host_heap_here(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 info = mallinfo2();
    return (int64_t)(info.uordblks + info.hblkhd);
#else
    return 0;
#endif
}

int64_t host_heap_in_use(const cnn_session *session)
{
    return separate_of(session->impl) != NULL ? separate_heap(session) : host_heap_here();
}

bool host_others_busy(const cnn_session *session, const int *but, int count)
{
    const separate *s = separate_of(session->impl);
    return s != NULL ? busy_process((int)s->process.pid) : busy_others(but, count);
}
