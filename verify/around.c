/* around.c: while the kernel runs, what is around its buffers: out of bounds where somebody can tell, and known by name
 * to whoever reports a crash. */
#include "engine.h"

#include <stdio.h>

void vf_around_add(vf_around *a, const char *name, const vf_guarded *buffer)
{
    a->names[a->bounds.count] = name;
    a->bounds.list[a->bounds.count++] = vf_guarded_bounds(buffer, name, !a->on_host);
}

cnn_status vf_around_begin(vf_around *a, const cnn_session *session, cnn_error *err)
{
    return host_bounds_begin(session, &a->bounds, err);
}

/* Who touched a page beside a buffer. */
static void tell_touch(const vf_around *a, vf_run *run)
{
    int64_t distance = 0;
    const int i = bounds_touched(&a->bounds, &distance);
    if (i < 0 || run->fault[0] != '\0') return;
    const char *did = atomic_load(&a->bounds.wrote) ? "wrote" : "read";
    if (distance > 0)
        snprintf(run->fault, sizeof run->fault, "%s past %s: at +%lld from its end", did, a->names[i],
                 (long long)distance - 1);
    else
        snprintf(run->fault, sizeof run->fault, "%s before %s: at %lld from its start", did, a->names[i],
                 (long long)distance);
}

cnn_status vf_around_end(vf_around *a, const cnn_session *session, vf_run *run, cnn_error *err)
{
    const cnn_status status = host_bounds_end(session, &a->bounds, err);
    tell_touch(a, run);
    return status;
}
