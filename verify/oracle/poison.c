/* poison.c: what lies around a buffer, out of bounds for AddressSanitizer while the kernel runs. Pages end at multiples
 * of their size and buffers begin at multiples of CNN_ALIGN: between the two a read of one element too many touches no
 * page. The sanitizer knows every byte, and names the line of the kernel. */
#include "guard.h"

#include <dlfcn.h>

typedef union marker {
    void *object;
    void (*mark)(const volatile void *from, size_t bytes);
} marker; /* what POSIX means by dlsym() and C has no cast for */

static void mark(const marker *m, const char *from, const char *to)
{
    if (to > from) m->mark(from, (size_t)(to - from));
}

/* The program may be built without it: then it is there if it was loaded before all else (LD_PRELOAD). */
void vf_guarded_poison(const vf_guarded *const *list, int count, bool poison)
{
    const marker m = {dlsym(RTLD_DEFAULT, poison ? "__asan_poison_memory_region" : "__asan_unpoison_memory_region")};
    if (m.object == NULL) return;
    for (int i = 0; i < count; i++) {
        const vf_guarded *g = list[i];
        const char *first, *last, *data = g->data;
        vf_guarded_room(g, &first, &last);
        if (data == NULL) continue;
        mark(&m, first, data);
        mark(&m, data + g->bytes, last);
    }
}
