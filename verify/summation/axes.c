/* axes.c: products of a grid counted by fewer axes. A kernel that goes through pixels as if they lay in a row has no
 * loops over rows and columns. */
#include "shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int counts[SUM_AXES_MAX];

/* How many different numbers an axis has. 0: no memory. */
static int extent(const counts *at, int axis, int products)
{
    int most = 0, different = 0;
    for (int i = 0; i < products; i++)
        if (at[i][axis] > most) most = at[i][axis];
    char *seen = calloc((size_t)most + 1, 1);
    for (int i = 0; seen != NULL && i < products; i++) {
        different += !seen[at[i][axis]];
        seen[at[i][axis]] = 1;
    }
    free(seen);
    return different;
}

/* The axes from `first` on become one: its number is that of the product, anew for each index of the axis before. */
static cnn_status merge(const sum_axes *axes, int first, int products, sum_axes *merged, void **owned, cnn_error *err)
{
    counts *at = calloc((size_t)products + 1, sizeof *at);
    if (at == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d products", products);
    *owned = at;
    *merged = *axes;
    merged->count = first + 1;
    if (first == 0)
        snprintf(merged->name[0], sizeof merged->name[0], "products");
    else
        snprintf(merged->name[first], sizeof merged->name[first], "%.6s*%.6s", axes->name[first],
                 axes->name[first + 1]);
    for (int i = 0; i < products; i++) {
        const bool anew = i == 0 || (first > 0 && axes->at[i][first - 1] != axes->at[i - 1][first - 1]);
        memcpy(at[i], axes->at[i], sizeof at[i]);
        at[i][first] = anew ? 0 : at[i - 1][first] + 1;
    }
    merged->at = (const counts *)at;
    return CNN_OK;
}

cnn_status sum_views_open(sum_views *views, const sum_axes *axes, int products, cnn_error *err)
{
    cnn_status status = CNN_OK;
    *views = (sum_views){.list = {*axes}, .count = 1};
    for (int first = axes->count - 2; status == CNN_OK && first >= 0; first--) {
        const int v = views->count;
        status = merge(axes, first, products, &views->list[v], &views->owned[v], err);
        if (status == CNN_OK) views->count++;
    }
    for (int v = 0; status == CNN_OK && v < views->count; v++)
        for (int a = 0; a < views->list[v].count; a++)
            views->list[v].extent[a] = extent(views->list[v].at, a, products);
    if (status != CNN_OK) sum_views_free(views);
    return status;
}

void sum_views_free(sum_views *views)
{
    for (int v = 0; v < views->count; v++) free(views->owned[v]);
    views->count = 0;
}
