/* errors.c: see errors.h. */
#include "errors.h"

#include "gnuplot.h"
#include "harness/base/grow.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "harness/record/identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What lies outside is drawn at the edge. */
static const double share_least = 1e-4, share_most = 100.0;

/* ---- Reading. */

static void put_knobs(const cnn_record *record, char *label, size_t size)
{
    enum { PAIRS = 64 };
    record_pair knobs[PAIRS];
    const int count = record_get_pairs(record, "knobs", knobs, PAIRS);
    for (int i = 0; i < count; i++) cnn_append(label, size, " %s=%s", knobs[i].key, knobs[i].value);
}

static errors_row *row_of(errors_set *set, const cnn_record *record, cnn_error *err)
{
    const char *impl = record_get_text(record, "impl"), *algorithm = record_get_text(record, "algorithm");
    const char *type[] = {record_get_text(record, "dtype"), record_get_text(record, "math"),
                          record_get_text(record, "layout")};
    errors_row row = {.points = 0};
    snprintf(row.label, sizeof row.label, "%.100s:%.100s", impl, algorithm != NULL ? algorithm : "");
    put_knobs(record, row.label, sizeof row.label);
    for (int i = 0; i < 3; i++)
        if (type[i] != NULL && !(i == 1 && strcmp(type[i], "f32") == 0))
            cnn_append(row.type, sizeof row.type, "%s%.20s", row.type[0] != '\0' ? " " : "", type[i]);
    for (int i = 0; i < set->n_rows; i++)
        if (strcmp(set->rows[i].label, row.label) == 0 && strcmp(set->rows[i].type, row.type) == 0)
            return &set->rows[i];
    if (set->n_rows == ERRORS_ROWS_MAX) {
        CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d algorithms: name fewer with --impl", ERRORS_ROWS_MAX);
        return NULL;
    }
    set->rows[set->n_rows] = row;
    return &set->rows[set->n_rows++];
}

static void note_bits(errors_row *row, const cnn_record *record)
{
    const double bits = record_get_real(record, "bits_kept"), taps = record_get_real(record, "taps");
    const char *dtype = record_get_text(record, "dtype");
    const int full = dtype != NULL && strcmp(dtype, "f64") == 0 ? 53 : 24;
    if (!(bits >= 0.0 && taps > 0.0)) return;
    const bool fewer = row->full == 0 || bits < row->bits, as_few = (int)bits == row->bits;
    if (!fewer && !(as_few && taps > (double)row->taps)) return;
    row->bits = (int)bits, row->full = full, row->taps = (long long)taps;
}

static cnn_status take_record(void *user, const cnn_record *record, cnn_error *err)
{
    errors_set *set = user;
    cnn_error unknown;
    const char *impl = record_get_text(record, "impl"), *check = record_get_text(record, "check");
    const char *algorithm = record_get_text(record, "algorithm"), *state = record_get_text(record, "state");
    const char *dir = record_get_text(record, "dir");
    if (strcmp(record_get_text(record, "kind"), "verify") != 0 || !impl || !check || !state || !dir) return CNN_OK;
    const bool bound = strcmp(check, "bound") == 0, failed = strcmp(state, "FAILED") == 0;
    if (!bound && strcmp(check, "precision") != 0) return CNN_OK;
    if (!record_chosen(set->impl, impl, algorithm != NULL ? algorithm : "")) return CNN_OK;
    const double share = record_get_real(record, "budget_used");
    const int at = cnn_name_find(&cnn_dir_names, dir, &unknown);
    if (at < 0 || (!failed && !(share >= 0.0))) return CNN_OK;
    errors_row *row = row_of(set, record, err);
    if (row == NULL) return err->status;
    note_bits(row, record);
    if (!bound || (!failed && !(share > 0.0))) return CNN_OK; /* nothing was rounded */
    errors_point *p = cnn_add_item(&set->points, &set->count, &set->room, sizeof *p, "results of verify", err);
    if (p == NULL) return err->status;
    *p = (errors_point){(int)(row - set->rows), at, failed && !(share > 0.0) ? (double)INFINITY : share, failed};
    row->points++;
    row->failed += failed;
    row->worst = fmax(row->worst, p->share);
    return CNN_OK;
}

cnn_status errors_read(errors_set *set, const char *path, int *bad, cnn_error *err)
{
    return record_read(path, take_record, set, bad, err);
}

cnn_status errors_check(const errors_set *set, cnn_error *err)
{
    if (set->count > 0) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                    "no rounding errors to draw: `benchcnn verify --out FILE` records them; --impl chooses");
}

void errors_free(errors_set *set)
{
    free(set->points);
    *set = (errors_set){.count = 0};
}

/* ---- The picture. */

static double drawn(double share) { return fmin(fmax(share, share_least), share_most); }

static int by_share(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A block a direction: row, share, 1 where it failed. And one of medians: row, direction, share. */
static cnn_status put_points(FILE *to, const errors_set *set, cnn_error *err)
{
    double *list = malloc((size_t)set->count * sizeof *list);
    if (list == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d points", set->count);
    fputs("$points << EOD\n", to);
    for (int dir = 0; dir < CNN_DIR_COUNT; dir++, fputs("nan nan 0\n\n\n", to))
        for (int i = 0; i < set->count; i++)
            if (set->points[i].dir == dir)
                fprintf(to, "%d %.6g %d\n", set->points[i].row, drawn(set->points[i].share), set->points[i].failed);
    fputs("EOD\n$medians << EOD\nnan nan nan\n", to);
    for (int row = 0; row < set->n_rows; row++)
        for (int dir = 0; dir < CNN_DIR_COUNT; dir++) {
            int n = 0;
            for (int i = 0; i < set->count; i++)
                if (set->points[i].row == row && set->points[i].dir == dir) list[n++] = drawn(set->points[i].share);
            if (n == 0) continue;
            qsort(list, (size_t)n, sizeof *list, by_share);
            fprintf(to, "%d %d %.6g\n", row, dir, (list[(n - 1) / 2] + list[n / 2]) / 2.0);
        }
    fputs("EOD\n", to);
    free(list);
    return CNN_OK;
}

static void note_of(const errors_row *row, char *text, size_t size)
{
    text[0] = '\0';
    if (row->points == 0)
        cnn_append(text, size, "nothing is rounded");
    else if (row->failed > 0)
        cnn_append(text, size, "%d of %d FAILED", row->failed, row->points);
    else
        cnn_append(text, size, "%d cases, at most %.2g %%", row->points, 100.0 * row->worst);
    if (row->full > 0 && row->bits < row->full)
        cnn_append(text, size, "; %d of %d bits, in sums of %lld", row->bits, row->full, row->taps);
    else if (row->full > 0)
        cnn_append(text, size, "; %d bits", row->bits);
}

cnn_status errors_picture(FILE *to, void *user, cnn_error *err)
{
    const errors_set *set = user;
    bool varies = false;
    char text[2 * ERRORS_TEXT_MAX];
    for (int i = 1; i < set->n_rows; i++) varies = varies || strcmp(set->rows[i].type, set->rows[0].type) != 0;
    fprintf(to, "rows=%d\nleast=%g\nmost=%g\n", set->n_rows, share_least, share_most);
    gnuplot_text(to, "title", -1, "How much of what rounding may leave is used");
    snprintf(text, sizeof text, "%s%sa point: a problem, its largest error over that element's own bound",
             varies ? "" : set->rows[0].type, varies ? "" : ";  ");
    gnuplot_text(to, "line", 0, text);
    for (int i = 0; i < set->n_rows; i++) {
        snprintf(text, sizeof text, "%s%s%s", set->rows[i].label, varies ? ", " : "", varies ? set->rows[i].type : "");
        gnuplot_text(to, "row", i, text);
        note_of(&set->rows[i], text, sizeof text);
        gnuplot_text(to, "note", i, text);
    }
    return put_points(to, set, err);
}
