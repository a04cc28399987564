/* late.c: outputs on the host that are written after the call has returned. The first thing after it is to look at some
 * elements, the last thing of the run to look again: nobody else writes in between. */
#include "run.h"

#include <string.h>

enum { APART = VF_LATE_LOOKS - 1 };

/* Evenly spread, the first and the last among them. */
static size_t place(const cnn_operand *o, int look)
{
    const size_t size = o->bytes / (size_t)o->count;
    return (size_t)((double)(o->count - 1) * look / APART) * size;
}

void vf_late_returned(vf_late *late, const cnn_operand *o, const void *before, const void *now)
{
    const size_t size = o->bytes / (size_t)o->count;
    for (int k = 0; k < VF_LATE_LOOKS; k++) {
        const size_t at = place(o, k);
        late->left[k] = memcmp((const char *)before + at, (const char *)now + at, size) == 0;
    }
}

int64_t vf_late_written(const vf_late *late, const cnn_operand *o, const void *before, const void *now, int *waiting)
{
    const size_t size = o->bytes / (size_t)o->count;
    int64_t written = -1;
    for (int k = 0; k < VF_LATE_LOOKS; k++) {
        const size_t at = place(o, k);
        if (!late->left[k]) continue;
        if (memcmp((const char *)before + at, (const char *)now + at, size) != 0)
            written = (int64_t)at;
        else
            ++*waiting;
    }
    return written;
}
