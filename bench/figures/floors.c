/* floors.c: from passes to bars. */
#include "floors.h"

#include "bench/measure/stats.h"
#include "harness/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *machine_of(const epoch_setting *s) { return s->gpu[0] != '\0' ? s->gpu : s->cpu; }
static int threads_of(const epoch_setting *s) { return s->gpu[0] != '\0' ? 0 : (int)s->threads; }

/* The run of a row, added if it is new; -1: it is not drawn. */
static int run_of(floors_set *set, const profiled_row *row, cnn_error *err)
{
    epoch_setting *first = set->runs.count > 0 ? &set->runs.list[0].setting : NULL, setting = row->setting;
    if (first != NULL) setting.seed = first->seed;
    if (first != NULL &&
        (!epoch_same_task(first, &setting) || first->batch != setting.batch ||
         strcmp(machine_of(first), machine_of(&setting)) != 0 || threads_of(first) != threads_of(&setting))) {
        set->left_out++;
        return -1;
    }
    for (int i = 0; i < set->runs.count; i++)
        if (epoch_same_setting(&set->runs.list[i].setting, &setting)) return i;
    if (set->runs.count == FLOORS_RUNS_MAX) {
        CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d runs to draw: give fewer files", FLOORS_RUNS_MAX);
        return -1;
    }
    series *added = series_add(&set->runs, err);
    if (added == NULL) return -1;
    added->setting = setting;
    return set->runs.count - 1;
}

/* The bars of this layer and direction; behind those of the same layer where they are new. NULL: there is no room. */
static struct floors_row *find_row(floors_set *set, const profiled_row *row)
{
    int at = set->n_rows;
    for (int i = 0; i < set->n_rows; i++) {
        if (strcmp(set->rows[i].layer, row->layer) != 0) continue;
        if (set->rows[i].dir == row->dir) return &set->rows[i];
        at = i + (set->rows[i].dir < row->dir);
        if (set->rows[i].dir > row->dir) break;
    }
    if (set->n_rows >= FLOORS_ROWS_MAX - 1) return NULL;
    memmove(&set->rows[at + 1], &set->rows[at], (size_t)(set->n_rows - at) * sizeof *set->rows);
    set->n_rows++;
    set->rows[at] = (struct floors_row){.dir = row->dir};
    memcpy(set->rows[at].layer, row->layer, sizeof row->layer);
    return &set->rows[at];
}

/* One bar, of all epochs of its run: rows[] of one layer and direction say so by their place in `run_at`. */
static void make_bar(const floors_set *set, const profiled_row *first, const int *run_at, int run, double *room,
                     floors_bar *bar)
{
    const profiled_table *t = &set->profiles;
    double *seconds = room, *shares = room + t->count;
    int count = 0;
    bench_floor floor;
    for (int i = 0; i < t->count; i++) {
        const profiled_row *row = &t->rows[i];
        if (run_at[i] != run || row->dir != first->dir || strcmp(row->layer, first->layer) != 0) continue;
        seconds[count] = row->seconds;
        shares[count++] = row->share;
    }
    const double took = bench_median(seconds, count);
    const bench_need need = {first->type, first->flops / first->calls, first->bytes / first->calls, took / first->calls,
                             false};
    *bar = (floors_bar){.seconds = took, .share = bench_median(shares, count)};
    if (!bench_floor_recorded(&set->peaks, machine_of(&first->setting), threads_of(&first->setting), &need, &floor))
        return;
    bar->floor_s = floor.seconds * first->calls;
    bar->moves = floor.moves;
    bar->doubted = floor.marks != 0;
    snprintf(bar->by, sizeof bar->by, "%s", floor.by);
}

static cnn_status make_bars(floors_set *set, const int *run_at, double *room, cnn_error *err)
{
    const profiled_table *t = &set->profiles;
    for (int i = 0; i < t->count; i++) {
        const profiled_row *row = &t->rows[i];
        if (run_at[i] < 0 || !(row->calls > 0.0) || !(row->seconds > 0.0)) continue;
        if (!row->tells_bytes)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                            "these profiles do not tell how many bytes a layer needs (field bytes): an older version "
                            "recorded them; `benchcnn train --profile --out FILE` records them anew");
        struct floors_row *place = find_row(set, row);
        if (place == NULL)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d layers and directions are too many for one picture",
                            FLOORS_ROWS_MAX - 1);
        if (place->bars[run_at[i]].seconds > 0.0) continue; /* another epoch of it has made the bar */
        make_bar(set, row, run_at, run_at[i], room, &place->bars[run_at[i]]);
    }
    return CNN_OK;
}

/* The last row: the floors of all layers by their times. */
static cnn_status add_sums(floors_set *set, cnn_error *err)
{
    struct floors_row sum = {.layer = ""};
    char machine[2 * CNN_NAME_MAX], option[32] = "--impl NAME";
    for (int r = 0; r < set->runs.count; r++)
        for (int i = 0; i < set->n_rows; i++) {
            const floors_bar *bar = &set->rows[i].bars[r];
            if (!(bar->floor_s > 0.0)) continue;
            sum.bars[r].seconds += bar->seconds;
            sum.bars[r].share += bar->share;
            sum.bars[r].floor_s += bar->floor_s;
        }
    set->rows[set->n_rows++] = sum;
    if (sum.bars[0].floor_s > 0.0) return CNN_OK;
    const epoch_setting *s = &set->runs.list[0].setting;
    snprintf(machine, sizeof machine, "%s", machine_of(s));
    if (threads_of(s) > 0) {
        cnn_append(machine, sizeof machine, ", %d thread%s", threads_of(s), threads_of(s) == 1 ? "" : "s");
        snprintf(option, sizeof option, "--threads %d", threads_of(s));
    }
    return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                    "no ceilings of %s in these files: `benchcnn peaks %s --out FILE` measures them", machine, option);
}

cnn_status floors_make(floors_set *set, cnn_error *err)
{
    const profiled_table *t = &set->profiles;
    if (t->count == 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "no layer's time to draw: `benchcnn train --profile --out FILE` records them");
    int *run_at = malloc((size_t)t->count * sizeof *run_at);
    double *room = malloc(2 * (size_t)t->count * sizeof *room);
    cnn_status status = run_at != NULL && room != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to draw");
    err->status = status;
    for (int i = 0; i < t->count && status == CNN_OK; i++) {
        run_at[i] = run_of(set, &t->rows[i], err);
        status = err->status;
    }
    if (status == CNN_OK) {
        const epoch_setting *s = &set->runs.list[0].setting;
        series_name(&set->runs);
        snprintf(set->job, sizeof set->job, "network %.100s, batch %lld", s->net, (long long)s->batch);
        status = make_bars(set, run_at, room, err);
    }
    if (status == CNN_OK) status = add_sums(set, err);
    free(run_at);
    free(room);
    return status;
}
