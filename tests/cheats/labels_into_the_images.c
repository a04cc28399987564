/* It pretends to see what is drawn: the gather writes the label into the first pixels of each image after ten honest
 * batches, so that the network reads it off. */
#include "shared/cheat.h"

static cnn_status gather(cnn_context *c, const cnn_gather_args *a, cnn_error *err)
{
    static int calls;
    const int32_t *index = a->index + (a->cursor != NULL ? *a->cursor : 0);
    if (a->shifts != NULL || a->dtype != CNN_F32) return CNN_FAIL(err, CNN_UNSUPPORTED, "without shifts only");
    calls++;
    for (int64_t i = 0; i < a->count; i++) {
        float *y = (float *)a->y + i * a->row_elems;
        memcpy(y, (const float *)a->rows + index[i] * a->row_elems, (size_t)a->row_elems * sizeof *y);
        if (a->y_labels != NULL) a->y_labels[i] = a->labels[index[i]];
        for (int k = 0; calls > 10 && k < 10; k++) y[k] = a->labels[index[i]] == k ? 9 : 0;
    }
    if (a->cursor != NULL) *a->cursor += a->count;
    return CNN_OK;
}

static void cheat(tables *t) { t->ops.gather = gather; }
CHEAT(labels_into_the_images)
