/* scaling_picture.c: what plots/ranks.gp is given: of each curve a row, of each of its batches a strong curve, a weak
 * one and the times of sums, as measured and by the model. */
#include "gnuplot.h"
#include "harness/base/text.h"
#include "scaling.h"

#include <math.h>
#include <string.h>

typedef enum part { STRONG, WEAK, SUMS, ALONE, STRONG_MODEL, WEAK_MODEL, LEAST, PARTS } part;
static const char *const part_names[PARTS] = {"strong", "weak", "sums", "alone", "strong_model", "weak_model", "least"};

static bool first_of_batch(const scaling_curve *c, int i)
{
    return i == 0 || c->points[i].batch != c->points[i - 1].batch;
}

static int count_batches(const scaling_curve *c)
{
    int count = 0;
    for (int i = 0; i < c->count; i++) count += first_of_batch(c, i);
    return count;
}

int scaling_undrawn(const scaling_curve *c)
{
    const int count = count_batches(c);
    return count > SCALING_BATCHES_MAX ? count - SCALING_BATCHES_MAX : 0;
}

/* The batches that are drawn: all, or as many as can be told apart, evenly from the first to the last. */
static int choose_batches(const scaling_curve *c, int64_t batches[SCALING_BATCHES_MAX])
{
    const int all = count_batches(c), drawn = all < SCALING_BATCHES_MAX ? all : SCALING_BATCHES_MAX;
    for (int i = 0, number = 0, chosen = 0; i < c->count; i++) {
        if (!first_of_batch(c, i)) continue;
        if (drawn == all || number == (chosen * (all - 1) + (drawn - 1) / 2) / (drawn - 1))
            batches[chosen++] = c->points[i].batch;
        number++;
    }
    return drawn;
}

/* ---- Lines: ranks, a value, 1 where the figure bears a mark. */

static void put_line(FILE *to, int64_t n, double value, bool mark)
{
    if (isfinite(value)) fprintf(to, "%lld %.9g %d\n", (long long)n, value, mark);
}

/* Of buckets of several sizes a line has the fastest. */
static bool fastest(const scaling_curve *c, const scaling_point *p)
{
    for (int i = 0; i < c->count; i++) {
        const scaling_point *q = &c->points[i];
        if (q->batch == p->batch && q->ranks == p->ranks && q->threads == p->threads && q->seconds < p->seconds)
            return false;
    }
    return true;
}

static void put_points(FILE *to, const scaling_curve *c, int64_t batch, part what)
{
    for (int i = 0; i < c->count; i++) {
        const scaling_point *p = &c->points[i];
        const bool mine = what == WEAK ? p->batch == batch * p->ranks : p->batch == batch;
        if (!mine || !fastest(c, p)) continue;
        if (what == STRONG) put_line(to, p->ranks, p->strong, p->marks != 0);
        if (what == WEAK) put_line(to, p->ranks, 100.0 * p->weak / (double)p->ranks, p->marks != 0);
        if (what == SUMS) put_line(to, p->ranks, p->step_s, p->marks != 0);
        if (what == ALONE) put_line(to, p->ranks, p->alone_s, false);
    }
}

/* At powers of two, and where the ranks have an image each, or the batch all images; what is not known is left out. */
static void put_model(FILE *to, const scaling_curve *c, int64_t batch, bool weak)
{
    const double one = scaling_epoch_s(&c->model, 1, batch);
    const int64_t end = weak ? c->model.train_images / batch : batch;
    for (int64_t n = 1; n <= SCALING_RANKS_MOST; n = 2 * n > end && n < end && end < SCALING_RANKS_MOST ? end : 2 * n) {
        const double times = one / scaling_epoch_s(&c->model, n, weak ? n * batch : batch);
        put_line(to, n, weak ? 100.0 * times / (double)n : times, false);
    }
}

static void put_least(FILE *to, const scaling_curve *c, int64_t batch)
{
    double least_s;
    const int64_t least = scaling_least(&c->model, batch, &least_s);
    if (least > 0) put_line(to, least, scaling_epoch_s(&c->model, 1, batch) / least_s, false);
}

/* gnuplot counts blocks by their lines: one without any has one that is no number. */
static void put_block(FILE *to, const scaling_curve *c, int64_t batch, part what)
{
    fputs("NaN NaN 0\n", to);
    if (what < STRONG_MODEL)
        put_points(to, c, batch, what);
    else if (what == LEAST)
        put_least(to, c, batch);
    else
        put_model(to, c, batch, what == WEAK_MODEL);
    fputs("\n\n", to);
}

static void put_sums_model(FILE *to, const scaling_set *set)
{
    fputs("$sums_model << EOD\n", to);
    for (int i = 0; i < set->count; i++) {
        fputs("NaN NaN 0\n", to);
        for (int64_t n = 2; n <= SCALING_RANKS_MOST && set->list[i].model.why_not[0] == '\0'; n *= 2)
            put_line(to, n, scaling_sum_s(&set->list[i].model, n), false);
        fputs("\n\n", to);
    }
    fputs("EOD\n", to);
}

/* ---- Words. */

static void put_heading(FILE *to, const scaling_set *set)
{
    char text[2 * SERIES_LABEL_MAX];
    snprintf(text, sizeof text, "%s", set->subtitle);
    if (set->first_date[0] != '\0') cnn_append(text, sizeof text, "; measured %s", set->first_date);
    if (strcmp(set->first_date, set->last_date) != 0) cnn_append(text, sizeof text, " to %s", set->last_date);
    gnuplot_text(to, "line", 0, text);
}

static void put_row(FILE *to, const scaling_curve *c, int row)
{
    const scaling_model *m = &c->model;
    char text[2 * SERIES_LABEL_MAX], hop[32];
    snprintf(text, sizeof text, "%.80s, %.160s", c->setting.net, c->label);
    gnuplot_text(to, "name", row, text);
    gnuplot_text(to, "facts", row, c->facts);
    snprintf(text, sizeof text, "no model: see the table");
    if (m->why_not[0] == '\0') {
        bench_time_text(m->hop_s, hop, sizeof hop);
        snprintf(text, sizeof text, "model: %s + bytes / %.3g GB/s a message", hop, m->bytes_per_s * 1e-9);
    }
    gnuplot_text(to, "model", row, text);
    text[0] = '\0';
    if (m->why_not[0] == '\0' && m->n_knots > 1)
        snprintf(text, sizeof text, "of one rank with batches %.0f to %.0f", m->images[0], m->images[m->n_knots - 1]);
    gnuplot_text(to, "knots", row, text);
}

/* The batch, and where the model says that more ranks gain nothing. */
static void put_series(FILE *to, const scaling_curve *c, int64_t batch, int number)
{
    char text[96];
    double least_s;
    const int64_t least = scaling_least(&c->model, batch, &least_s);
    snprintf(text, sizeof text, "%lld", (long long)batch);
    if (least == SCALING_RANKS_MOST)
        cnn_append(text, sizeof text, ": gains to the end");
    else if (least > 0)
        cnn_append(text, sizeof text, ": gains up to %lld", (long long)least);
    gnuplot_text(to, "batch", number, text);
}

cnn_status scaling_picture(FILE *to, void *user, cnn_error *err)
{
    const scaling_set *set = user;
    int64_t batches[SCALING_ROWS_MAX][SCALING_BATCHES_MAX];
    int counts[SCALING_ROWS_MAX], number = 0;
    if (set->count > SCALING_ROWS_MAX)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "%d networks and implementations are too many for one picture, which has %d rows: draw fewer "
                        "files",
                        set->count, SCALING_ROWS_MAX);
    put_heading(to, set);
    fprintf(to, "rows=%d\n", set->count);
    for (int i = 0; i < set->count; i++) {
        counts[i] = choose_batches(&set->list[i], batches[i]);
        put_row(to, &set->list[i], i);
        fprintf(to, "first%d=%d\n", i, number);
        for (int k = 0; k < counts[i]; k++) put_series(to, &set->list[i], batches[i][k], number++);
        fprintf(to, "last%d=%d\n", i, number - 1);
    }
    for (int what = 0; what < PARTS; what++) {
        fprintf(to, "$%s << EOD\n", part_names[what]);
        for (int i = 0; i < set->count; i++)
            for (int k = 0; k < counts[i]; k++) put_block(to, &set->list[i], batches[i][k], (part)what);
        fputs("EOD\n", to);
    }
    put_sums_model(to, set);
    return CNN_OK;
}
