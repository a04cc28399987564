/* plan.c: what is found once for a problem: its tiles, and the lists of its taps. */
#include "direct.h"
#include "harness/cnn/shape.h"

#include <stdlib.h>

/* One block of whole images must be countable; the arenas check what is made of it. */
static bool countable(const cnn_conv_desc *c)
{
    const int64_t most = INT64_MAX / 4 / DIRECT_MAX_LANES / (int64_t)cnn_dtype_size(c->t.dtype);
    int64_t in, out;
    return cnn_mul4(c->mb, c->ic, c->ih, c->iw, &in) && cnn_mul4(c->mb, c->oc, c->oh, c->ow, &out) && in <= most &&
           out <= most;
}

cnn_status direct_plan(const cpu_context *cpu, const cnn_request *r, void **state, size_t *bytes, cnn_error *err)
{
    const int64_t most_kept = 1 << 30;
    const direct_layout *l = r->dir == CNN_BWD_W ? &direct_weights_layout : &direct_gather_layout;
    direct_arena kept = {0}, workspace = {.overflow = !countable(&r->problem->u.conv)};
    void *run = malloc(l->run);
    if (!run) goto no_memory;
    direct_take(&kept, 1, 1, l->run);
    if (!workspace.overflow) l->lay_out(cpu, r, run, &kept, &workspace);
    free(run);
    if (kept.overflow || workspace.overflow)
        return CNN_FAIL(err, CNN_OVERFLOW, "the direct convolution's workspace exceeds 2^63 bytes");
    if (kept.used > most_kept) /* where kernel and image are very long */
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%lld bytes of lists of taps would be needed, more than %lld",
                        (long long)kept.used, (long long)most_kept);
    *bytes = (size_t)workspace.used;
    if (!state) return CNN_OK;
    if (!(run = malloc((size_t)kept.used))) goto no_memory;
    kept = (direct_arena){.base = run}, workspace = (direct_arena){0};
    direct_take(&kept, 1, 1, l->run);
    l->lay_out(cpu, r, run, &kept, &workspace);
    l->fill(run, &r->problem->u.conv);
    *state = run;
    return CNN_OK;
no_memory:
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plan of the direct convolution");
}
