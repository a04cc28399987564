/* It pretends to make each batch, but after ten honest ones leaves the last batch where it is, and only moves the
 * cursor. */
#include "shared/cheat.h"

static cnn_status gather(cnn_context *c, const cnn_gather_args *a, cnn_error *err)
{
    static int calls;
    const int32_t *index = a->index + (a->cursor != NULL ? *a->cursor : 0);
    if (a->shifts != NULL || a->dtype != CNN_F32) return CNN_FAIL(err, CNN_UNSUPPORTED, "without shifts only");
    calls++;
    for (int64_t i = 0; calls <= 10 && i < a->count; i++) {
        memcpy((float *)a->y + i * a->row_elems, (const float *)a->rows + index[i] * a->row_elems,
               (size_t)a->row_elems * sizeof(float));
        if (a->y_labels != NULL) a->y_labels[i] = a->labels[index[i]];
    }
    if (a->cursor != NULL) *a->cursor += a->count;
    return CNN_OK;
}

static void cheat(tables *t) { t->ops.gather = gather; }
CHEAT(gather_gives_the_same_batch)
