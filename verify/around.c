/* around.c: while the kernel runs, what is around its buffers: out of bounds where somebody can tell, and known by name
 * to whoever reports a crash. */
#include "engine.h"

#include "harness/process/crash.h"

#include <stdatomic.h>
#include <stdio.h>

static void tell_arrays(const vf_around *a)
{
    crash_array list[VF_FENCED_MAX];
    for (int i = 0; i < a->fences.count; i++) {
        const vf_guarded *g = a->fences.list[i];
        list[i] = (crash_array){.first = (uintptr_t)g->data,
                                .bytes = g->bytes,
                                .on_device = !a->on_host,
                                .in_bands = a->on_host && g->mapped == 0};
        snprintf(list[i].name, sizeof list[i].name, "%s", a->names[i]);
    }
    crash_arrays(list, a->fences.count);
}

void vf_around_add(vf_around *a, const char *name, const vf_guarded *buffer)
{
    a->names[a->fences.count] = name;
    a->fences.list[a->fences.count++] = buffer;
}

void vf_around_begin(vf_around *a)
{
    tell_arrays(a);
    if (a->on_host) vf_guarded_poison(a->fences.list, a->fences.count, true);
    if (a->pages) vf_fences_begin(&a->fences);
}

/* Who touched a page beside a buffer. */
static void tell_touch(vf_around *a, vf_run *run)
{
    int64_t distance = 0;
    const int i = vf_fences_end(&a->fences, &distance);
    if (i < 0 || run->fault[0] != '\0') return;
    const char *did = atomic_load(&a->fences.wrote) ? "wrote" : "read";
    if (distance > 0)
        snprintf(run->fault, sizeof run->fault, "%s past %s: at +%lld from its end", did, a->names[i],
                 (long long)distance - 1);
    else
        snprintf(run->fault, sizeof run->fault, "%s before %s: at %lld from its start", did, a->names[i],
                 (long long)distance);
}

void vf_around_end(vf_around *a, vf_run *run)
{
    if (a->pages) tell_touch(a, run);
    if (a->on_host) vf_guarded_poison(a->fences.list, a->fences.count, false);
    crash_arrays(NULL, 0);
}
