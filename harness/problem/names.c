/* names.c: the names of each enumeration, and the nearest one for what was mistyped. */
#include "names.h"

#include "harness/base/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SET(name, what, LIST)                                                                                          \
    static const char *const name##_text[] = {LIST(CNN_TEXT)};                                                         \
    const cnn_name_set cnn_##name##_names = {what, name##_text, (int)(sizeof name##_text / sizeof name##_text[0])};
SET(dtype, "dtype", CNN_DTYPE_NAMES)
SET(layout, "layout", CNN_LAYOUT_LIST)
SET(math, "math mode", CNN_MATH_LIST)
SET(op, "operation", CNN_OP_NAMES)
SET(dir, "direction", CNN_DIR_LIST)
SET(pool, "pooling", CNN_POOL_LIST)
SET(act, "activation", CNN_ACT_LIST)
SET(loss, "loss", CNN_LOSS_LIST)
SET(optimizer, "optimizer", CNN_OPTIMIZER_LIST)

/* Levenshtein distance, one row at a time; names longer than the row are compared by their beginning. */
static int edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 96 };
    int row[LONGEST + 1];
    int na = (int)strlen(a), nb = (int)strlen(b);
    if (nb > LONGEST) nb = LONGEST;
    for (int j = 0; j <= nb; j++) row[j] = j;
    for (int i = 1; i <= na; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            int change = diagonal + (strncasecmp(&a[i - 1], &b[j - 1], 1) != 0);
            int add_or_drop = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
            diagonal = row[j];
            row[j] = change < add_or_drop ? change : add_or_drop;
        }
    }
    return row[nb];
}

const char *cnn_nearest_name(const char *text, const char *const *names, int count)
{
    const char *nearest = NULL;
    int least = 1 + (int)strlen(text) / 3; /* more than about a third wrong is another word */
    for (int i = 0; i < count; i++) {
        int distance = edit_distance(text, names[i]);
        if (distance <= least && (nearest == NULL || distance < least)) {
            nearest = names[i];
            least = distance;
        }
    }
    return nearest;
}

int cnn_name_find(const cnn_name_set *set, const char *text, cnn_error *err)
{
    for (int i = 0; i < set->count; i++)
        if (strcasecmp(text, set->names[i]) == 0) return i;

    const char *nearest = cnn_nearest_name(text, set->names, set->count);
    if (nearest != NULL) {
        CNN_FAIL(err, CNN_BAD_ARGUMENT, "unknown %s '%.64s'; did you mean '%s'?", set->what, text, nearest);
        return -1;
    }
    char all[256] = "";
    for (int i = 0; i < set->count; i++) cnn_append(all, sizeof all, "%s%s", i > 0 ? ", " : "", set->names[i]);
    CNN_FAIL(err, CNN_BAD_ARGUMENT, "unknown %s '%.64s'; known are: %s", set->what, text, all);
    return -1;
}

uint32_t cnn_name_mask(const cnn_name_set *set, const char *text, cnn_error *err)
{
    const char *names[32];
    const cnn_name_set with_all = {set->what, names, set->count + 1};
    uint32_t mask = text == NULL ? UINT32_MAX : 0;
    char word[CNN_NAME_MAX];
    memcpy(names, set->names, (size_t)set->count * sizeof *names);
    names[set->count] = "all";
    for (const char *at = text, *comma; at != NULL; at = comma ? comma + 1 : NULL) {
        comma = strchr(at, ',');
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        const int found = cnn_name_find(&with_all, word, err);
        if (found < 0) return 0;
        mask |= found == set->count ? UINT32_MAX : 1u << found;
    }
    return mask & ((1u << set->count) - 1);
}
