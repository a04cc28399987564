/* bounds.c: see bounds.h. A read of one element too many is an error even where nothing of it is used: where the next
 * page is not there, it is a crash. Pages end at multiples of their size and arrays begin at multiples of CNN_ALIGN:
 * between the two a read of one element too many touches no page, but the sanitizer knows every byte, and names the
 * line of the kernel. */
#include "bounds.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- AddressSanitizer. */

typedef union marker {
    void *object;
    void (*mark)(const volatile void *from, size_t bytes);
} marker; /* what POSIX means by dlsym() and C has no cast for */

static void mark(const marker *m, uintptr_t from, uintptr_t to)
{
    if (to > from) m->mark((const volatile void *)from, to - from);
}

/* The program may be built without it: then it is there if it was loaded before all else (LD_PRELOAD). */
static void poison(const bounds_list *b, bool forbid)
{
    const marker m = {dlsym(RTLD_DEFAULT, forbid ? "__asan_poison_memory_region" : "__asan_unpoison_memory_region")};
    if (m.object == NULL) return;
    for (int i = 0; i < b->count; i++) {
        const bounds_array *a = &b->list[i];
        if (a->data == 0 || a->on_device) continue;
        mark(&m, a->first, a->data);
        mark(&m, a->data + a->bytes, a->last);
    }
}

/* ---- Pages that cannot be touched. */

/* A signal handler can reach nothing but a global. */
static _Atomic(bounds_list *) watched;
static struct sigaction before;

static uintptr_t page_size(void) { return (uintptr_t)sysconf(_SC_PAGESIZE); }

/* Whether the address lies in this array's pages that cannot be touched. */
static bool is_closed(const bounds_array *a, uintptr_t address)
{
    return (address >= a->first - a->closed && address < a->first) ||
           (address >= a->last && address < a->last + a->closed);
}

/* What is not ours happens again, to whoever was to see it before. */
static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    bounds_list *b = atomic_load(&watched);
    const uintptr_t address = (uintptr_t)info->si_addr, page = address / page_size() * page_size();
    uintptr_t none = 0;
    for (int i = 0; b != NULL && i < b->count; i++) {
        if (!is_closed(&b->list[i], address)) continue;
        if (atomic_compare_exchange_strong(&b->touched, &none, address))
            atomic_store(&b->wrote, crash_access_of(context) == CRASH_WROTE);
        (void)mprotect((void *)page, page_size(), PROT_READ | PROT_WRITE);
        return;
    }
    sigaction(signal_number, &before, NULL);
}

static bool has_pages(const bounds_list *b)
{
    for (int i = 0; i < b->count; i++)
        if (b->list[i].closed > 0) return true;
    return false;
}

static void tell_arrays(const bounds_list *b)
{
    crash_array list[CRASH_ARRAYS_MAX];
    for (int i = 0; i < b->count; i++) {
        const bounds_array *a = &b->list[i];
        list[i] = (crash_array){.first = a->data,
                                .bytes = a->bytes,
                                .on_device = a->on_device,
                                .in_bands = !a->on_device && a->closed == 0};
        snprintf(list[i].name, sizeof list[i].name, "%s", a->name);
    }
    crash_arrays(list, b->count);
}

void bounds_begin(bounds_list *b)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    atomic_store(&b->touched, 0);
    tell_arrays(b);
    poison(b, true);
    if (!has_pages(b)) return;
    sigemptyset(&action.sa_mask);
    atomic_store(&watched, b);
    sigaction(SIGSEGV, &action, &before);
}

void bounds_end(bounds_list *b)
{
    int64_t distance;
    if (has_pages(b)) {
        sigaction(SIGSEGV, &before, NULL);
        atomic_store(&watched, NULL);
        const int i = bounds_touched(b, &distance);
        const bounds_array *a = &b->list[i >= 0 ? i : 0];
        if (i >= 0) (void)mprotect((void *)(a->first - a->closed), a->closed, PROT_NONE);
        if (i >= 0) (void)mprotect((void *)a->last, a->closed, PROT_NONE);
    }
    poison(b, false);
    crash_arrays(NULL, 0);
}

int bounds_touched(const bounds_list *b, int64_t *distance)
{
    const uintptr_t at = atomic_load(&b->touched);
    for (int i = 0; at != 0 && i < b->count; i++) {
        const bounds_array *a = &b->list[i];
        if (!is_closed(a, at)) continue;
        *distance = at < a->data ? -(int64_t)(a->data - at) : (int64_t)(at - a->data - a->bytes) + 1;
        return i;
    }
    return -1;
}
