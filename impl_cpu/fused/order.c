/* order.c: numbers in another order: where each vector of them finds its own; weights that are turned. */
#include "fused.h"

#include <stdlib.h>
#include <string.h>

cnn_status fused_order_make(fused_order *o, int64_t count, int lanes, cnn_error *err)
{
    o->count = cpu_ceil_div(count, FUSED_MAX_LANES) * FUSED_MAX_LANES;
    o->lanes = lanes;
    o->index = malloc((size_t)o->count * sizeof *o->index);
    o->base = calloc((size_t)(o->count / lanes), sizeof *o->base);
    o->places = calloc((size_t)(o->count / lanes), sizeof *o->places);
    o->squares = calloc((size_t)(o->count / lanes), sizeof *o->squares);
    if (o->index == NULL || o->base == NULL || o->places == NULL || o->squares == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the order of %lld numbers in trainer cpu:fused",
                        (long long)count);
    for (int64_t i = 0; i < o->count; i++) o->index[i] = -1;
    return CNN_OK;
}

/* Four places that hold all numbers of a vector, none behind `last`: its index then counts through them. False where
 * they are not enough: nothing is changed. */
static bool find_places(int32_t *index, int lanes, int64_t last, fused_places *places)
{
    int32_t in_places[FUSED_MAX_LANES];
    int n = 0;
    for (int i = 0; i < lanes; i++) {
        int p = 0;
        in_places[i] = -1;
        if (index[i] < 0) continue;
        while (p < n && (index[i] < places->at[p] || index[i] >= places->at[p] + lanes)) p++;
        if (p == FUSED_PLACES) return false;
        if (p == n) places->at[n++] = (int32_t)cpu_min(index[i], last);
        in_places[i] = p * lanes + index[i] - places->at[p];
    }
    memcpy(index, in_places, (size_t)lanes * sizeof *index);
    return true;
}

void fused_order_done(fused_order *o, int64_t readable)
{
    const int64_t both = 2 * o->lanes, last = readable - both; /* the last place of two vectors */
    for (int64_t g = 0; g < o->count / o->lanes; g++) {
        int32_t *index = o->index + g * o->lanes, least = INT32_MAX, most = 0;
        if (o->base[g] == FUSED_SQUARE) continue;
        for (int i = 0; i < o->lanes; i++) {
            if (index[i] >= 0 && index[i] < least) least = index[i];
            if (index[i] > most) most = index[i];
        }
        const int64_t base = cpu_min(least == INT32_MAX ? 0 : least, last);
        o->base[g] = base >= 0 && most - base < both ? (int32_t)base : FUSED_ANYWHERE;
        if (o->base[g] == FUSED_ANYWHERE && last >= 0 &&
            find_places(index, o->lanes, readable - o->lanes, &o->places[g]))
            o->base[g] = FUSED_IN_PLACES;
    }
}

void fused_order_free(fused_order *o)
{
    free(o->index);
    free(o->base);
    free(o->places);
    free(o->squares);
}

/* ---- Weights: terms and columns of a tap exchanged. */

/* Whole vectors of columns by as many terms are turned in registers. What no weight is in them is zero on both sides.
 */
static void find_squares(fused_conv *v, int lanes)
{
    const fused_matrix *from = &v->forward.m, *to = &v->backward.m;
    const int64_t width = from->vectors * lanes, to_width = to->vectors * lanes;
    fused_order *o = &v->turn;
    for (int64_t term = 0; term < to->k && term + lanes <= width; term += lanes)
        for (int64_t column = 0; column < to_width && column + lanes <= from->high; column += lanes) {
            const int64_t at = fused_matrix_at(to, term, column, lanes);
            const int64_t from_row = fused_vector_step(from, term / lanes, lanes);
            const int64_t to_row = fused_vector_step(to, column / lanes, lanes);
            const int rows = (int)cpu_min(lanes, to->k - term);
            o->squares[o->n_squares++] =
                (fused_square){fused_matrix_at(from, column, term, lanes), at, from_row, to_row, rows};
            for (int r = 0; r < rows; r++) o->base[(at + r * to_row) / lanes] = FUSED_SQUARE;
        }
}

cnn_status fused_turn_make(fused_conv *v, int lanes, cnn_error *err)
{
    const fused_matrix *from = &v->forward.m, *to = &v->backward.m;
    const int64_t terms = v->c.oc / v->c.g, columns = v->c.ic / v->c.g;
    const cnn_status status = fused_order_make(&v->turn, to->elems, lanes, err);
    if (status != CNN_OK) return status;
    for (int64_t c = 0; c < v->c.g && v->each; c++) v->turn.index[c] = (int32_t)c;
    for (int64_t k = 0; k < terms && !v->each; k++)
        for (int64_t column = 0; column < columns; column++)
            v->turn.index[fused_matrix_at(to, k, column, lanes)] = (int32_t)fused_matrix_at(from, column, k, lanes);
    if (!v->each) find_squares(v, lanes);
    fused_order_done(&v->turn, from->elems + 2 * FUSED_MAX_LANES); /* more stands behind the parameters */
    return CNN_OK;
}
