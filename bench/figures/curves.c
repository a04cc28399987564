/* curves.c: grouping epochs into runs, naming these, and what plots/curves.gp is given. */
#include "curves.h"

#include "gnuplot.h"
#include "harness/base/grow.h"
#include "harness/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static curves_point *last_of(const curves_set *set, int run)
{
    for (int i = set->count - 1; i >= 0; i--)
        if (set->points[i].run == run) return &set->points[i];
    return NULL;
}

/* The run that this epoch goes on with, the latest first; -1: none. */
static int run_of(const curves_set *set, const epoch_row *row)
{
    for (int i = set->runs.count - 1; i >= 0; i--) {
        const curves_point *last = last_of(set, i);
        if (last != NULL && last->row->epoch + 1 == row->epoch &&
            epoch_same_setting(&set->runs.list[i].setting, &row->setting))
            return i;
    }
    return -1;
}

static bool can_be_drawn(const epoch_row *row)
{
    return !row->diverged && isfinite(row->test_loss) && row->test_loss > 0 && isfinite(row->test_accuracy);
}

/* Older records may lack the time of the training alone. */
static double trained_s(const epoch_row *row) { return isfinite(row->train_s) ? row->train_s : row->seconds; }

static cnn_status add(curves_set *set, const epoch_row *row, cnn_error *err)
{
    int run = run_of(set, row);
    const double before = run < 0 ? 0.0 : last_of(set, run)->trained_s;
    if (run < 0) {
        series *s = series_add(&set->runs, err);
        if (s == NULL) return err->status;
        s->setting = row->setting;
        run = set->runs.count - 1;
    }
    curves_point *point = cnn_add_item(&set->points, &set->count, &set->capacity, sizeof *point, "epochs to draw", err);
    if (point == NULL) return err->status;
    *point = (curves_point){run, row, before + trained_s(row)};
    return CNN_OK;
}

/* ---- Names ---- */

enum { FACT_LINES = 4 }; /* of a label, as plots/curves.gp has them */

/* What a curve over batch sizes leaves out of its label. */
enum { BATCH, WORKER_BATCH, WORKERS, SEED, WEIGHTS, JOB, OWN_FACTS };
static void describe(const epoch_setting *s, int fact, char text[SERIES_LABEL_MAX])
{
    text[0] = '\0';
    if (fact == BATCH && s->workers == 0) snprintf(text, SERIES_LABEL_MAX, "batch %lld", (long long)s->batch);
    if (fact == WORKER_BATCH && s->workers > 0)
        snprintf(text, SERIES_LABEL_MAX, "worker-batch %lld", (long long)(s->batch / s->workers));
    if (fact == WORKERS && s->workers > 0)
        snprintf(text, SERIES_LABEL_MAX, "%lld worker%s", (long long)s->workers, s->workers == 1 ? "" : "s");
    if (fact == SEED) snprintf(text, SERIES_LABEL_MAX, "seed %lld", (long long)s->seed);
    if (fact == WEIGHTS && s->weights[0] != '\0') snprintf(text, SERIES_LABEL_MAX, "from weights %s", s->weights);
    if (fact == JOB)
        snprintf(text, SERIES_LABEL_MAX, "network %s, %lld images to train on, %lld to test on", s->net,
                 (long long)s->train_images, (long long)s->test_images);
}

static void join(char *text, const char *more)
{
    if (more[0] != '\0') cnn_append(text, SERIES_LABEL_MAX, "%s%s", text[0] != '\0' ? ", " : "", more);
}

static void name_runs(curves_set *set)
{
    series_set *runs = &set->runs;
    char first[SERIES_LABEL_MAX], other[SERIES_LABEL_MAX];
    series_name(runs);
    for (int fact = 0; fact < OWN_FACTS; fact++) {
        bool varies = false;
        describe(&runs->list[0].setting, fact, first);
        for (int i = 1; i < runs->count; i++) {
            describe(&runs->list[i].setting, fact, other);
            varies = varies || strcmp(first, other) != 0;
        }
        if (!varies && fact == JOB) snprintf(set->network, sizeof set->network, "%s", first);
        if (!varies && (fact == BATCH || fact == WORKER_BATCH || fact == WORKERS)) join(runs->subtitle, first);
        for (int i = 0; varies && i < runs->count; i++) {
            describe(&runs->list[i].setting, fact, other);
            join(runs->list[i].facts, other);
        }
    }
}

cnn_status curves_make(const epoch_table *table, curves_set *set, cnn_error *err)
{
    for (int i = 0; i < table->count; i++) {
        if (!can_be_drawn(&table->rows[i]))
            set->diverged++;
        else if (add(set, &table->rows[i], err) != CNN_OK)
            return err->status;
    }
    if (set->count == 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "no epoch to draw: of %d records none has a loss", table->count);
    name_runs(set);
    return CNN_OK;
}

void curves_free(curves_set *set)
{
    series_free(&set->runs);
    free(set->points);
    memset(set, 0, sizeof *set);
}

const curves_point *curves_goal(const curves_set *set, int run, double share)
{
    const double goal = share * last_of(set, run)->row->test_accuracy;
    for (int i = 0; i < set->count; i++)
        if (set->points[i].run == run && set->points[i].row->test_accuracy >= goal) return &set->points[i];
    return last_of(set, run);
}

/* ---- The picture ---- */

/* When it first had these shares of its last accuracy: "90, 95, 99 %: epoch 1, 2, 7; 1.3, 2.6, 9.1 s"; of a few epochs
 * it says nothing. */
static void goals_text(const curves_set *set, int run, char text[SERIES_LABEL_MAX])
{
    enum { FEW = 4 };
    const curves_point *at[] = {curves_goal(set, run, 0.90), curves_goal(set, run, 0.95), curves_goal(set, run, 0.99)};
    text[0] = '\0';
    if (last_of(set, run)->row->epoch <= FEW) return;
    snprintf(text, SERIES_LABEL_MAX, "90, 95, 99 %%: epoch %lld, %lld, %lld;", (long long)at[0]->row->epoch,
             (long long)at[1]->row->epoch, (long long)at[2]->row->epoch);
    for (int i = 0; i < 3; i++) {
        const double s = at[i]->trained_s;
        cnn_append(text, SERIES_LABEL_MAX, "%s %.*f", i > 0 ? "," : "", s < 10.0 ? 1 : 0, s);
    }
    cnn_append(text, SERIES_LABEL_MAX, " s");
}

/* Cuts `from` behind a comma, at what a line has room for, or in the middle of what is longer. Returns the rest. */
static const char *cut_line(const char *from, char line[SERIES_LABEL_MAX])
{
    enum { ROOM = 40 };
    size_t end = strlen(from);
    for (size_t i = 0; end > ROOM && from[i] != '\0'; i++)
        if (from[i] == ' ' && i > 0 && from[i - 1] == ',' && (i <= ROOM || end == strlen(from))) end = i;
    snprintf(line, SERIES_LABEL_MAX, "%.*s", (int)(end > ROOM ? ROOM : end), from);
    return from + end + (from[end] == ' ');
}

/* The lines of a run's label: its name, what it came to, and what tells it apart. */
static void put_label(FILE *to, const curves_set *set, int run)
{
    const series *s = &set->runs.list[run];
    const curves_point *last = last_of(set, run);
    char line[SERIES_LABEL_MAX], name[24];
    const char *rest = s->facts;
    snprintf(line, sizeof line, "%.2f %% after %lld epoch%s, %.3g s", 100.0 * last->row->test_accuracy,
             (long long)last->row->epoch, last->row->epoch == 1 ? "" : "s", last->trained_s);
    gnuplot_text(to, "name", run, s->label);
    gnuplot_text(to, "note", run, line);
    goals_text(set, run, line);
    gnuplot_text(to, "goal", run, line);
    for (int i = 0; i < FACT_LINES; i++) {
        rest = cut_line(rest, line);
        snprintf(name, sizeof name, "facts%d_", i);
        gnuplot_text(to, name, run, line);
    }
}

/* Blocks are parted by two empty lines: gnuplot's `index`. */
static void put_points(FILE *to, const curves_set *set)
{
    fputs("$curves << EOD\n", to);
    for (int run = 0; run < set->runs.count; run++, fputs("\n\n", to))
        for (int i = 0; i < set->count; i++) {
            const curves_point *p = &set->points[i];
            const double train_loss = p->row->train_loss > 0 ? p->row->train_loss : NAN;
            if (p->run != run) continue;
            fprintf(to, "%lld %.9g %.9g %.9g %.9g\n", (long long)p->row->epoch, p->trained_s, p->row->test_loss,
                    100.0 * p->row->test_accuracy, train_loss);
        }
    fputs("EOD\n", to);
}

cnn_status curves_picture(FILE *to, void *user, cnn_error *err)
{
    const curves_set *set = user;
    (void)err;
    gnuplot_text(to, "line", 0, set->network);
    gnuplot_text(to, "line", 1, set->runs.subtitle);
    fprintf(to, "count=%d\n", set->runs.count);
    for (int run = 0; run < set->runs.count; run++) put_label(to, set, run);
    put_points(to, set);
    return CNN_OK;
}
