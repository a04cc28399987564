/* fence.c: host buffers with pages before and behind them that cannot be touched. A read of one element too many is an
 * error even where nothing of it is used: where the next page is not there, it is a crash. */
#include "guard.h"

#include "harness/process/crash.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/* A signal handler can reach nothing but a global. */
static _Atomic(vf_fences *) watched;
static struct sigaction before;

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

size_t vf_fence_bytes(void) { return 64 * page_size(); }

static size_t whole_pages(size_t bytes) { return (bytes + page_size() - 1) / page_size() * page_size(); }

/* Behind: the end is at a page's end, but for what the alignment leaves. */
cnn_status vf_fence_alloc(vf_guarded *g, size_t bytes, cnn_error *err)
{
    const size_t fence = vf_fence_bytes(), inner = whole_pages(bytes > 0 ? bytes : 1);
    const size_t aligned = (bytes + CNN_ALIGN - 1) / CNN_ALIGN * CNN_ALIGN;
    if (bytes > SIZE_MAX / 2) return CNN_FAIL(err, CNN_OVERFLOW, "a buffer of %zu bytes has no pages around it", bytes);
    g->mapped = inner + 2 * fence;
    g->memory = mmap(NULL, g->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (g->memory != MAP_FAILED && mprotect((char *)g->memory + fence, inner, PROT_READ | PROT_WRITE) == 0) {
        g->data = (char *)g->memory + fence + (g->fence == VF_PAGE_BEHIND ? inner - aligned : 0);
        return CNN_OK;
    }
    if (g->memory != MAP_FAILED) munmap(g->memory, g->mapped);
    *g = (vf_guarded){.bytes = 0};
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %zu bytes between pages that cannot be touched", bytes);
}

/* Whether the address lies in this buffer's pages that cannot be touched. */
static bool is_fence(const vf_guarded *g, uintptr_t address)
{
    const uintptr_t first = (uintptr_t)g->memory, fence = vf_fence_bytes();
    return g->mapped > 0 && address >= first && address < first + g->mapped &&
           (address < first + fence || address >= first + g->mapped - fence);
}

/* What is not ours happens again, to whoever was to see it before. */
static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    vf_fences *fences = atomic_load(&watched);
    const uintptr_t address = (uintptr_t)info->si_addr, page = address / page_size() * page_size();
    uintptr_t none = 0;
    for (int i = 0; fences != NULL && i < fences->count; i++) {
        if (!is_fence(fences->list[i], address)) continue;
        if (atomic_compare_exchange_strong(&fences->touched, &none, address))
            atomic_store(&fences->wrote, crash_access_of(context) == CRASH_WROTE);
        (void)mprotect((void *)page, page_size(), PROT_READ | PROT_WRITE);
        return;
    }
    sigaction(signal_number, &before, NULL);
}

void vf_fences_begin(vf_fences *fences)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    atomic_store(&fences->touched, 0);
    atomic_store(&watched, fences);
    sigaction(SIGSEGV, &action, &before);
}

int vf_fences_end(vf_fences *fences, int64_t *distance)
{
    sigaction(SIGSEGV, &before, NULL);
    atomic_store(&watched, NULL);
    const uintptr_t at = atomic_load(&fences->touched);
    for (int i = 0; at != 0 && i < fences->count; i++) {
        const vf_guarded *g = fences->list[i];
        const uintptr_t data = (uintptr_t)g->data;
        if (!is_fence(g, at)) continue;
        *distance = at < data ? -(int64_t)(data - at) : (int64_t)(at - data - g->bytes) + 1;
        (void)mprotect(g->memory, vf_fence_bytes(), PROT_NONE);
        (void)mprotect((char *)g->memory + g->mapped - vf_fence_bytes(), vf_fence_bytes(), PROT_NONE);
        return i;
    }
    return -1;
}
