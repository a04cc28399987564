/* over_batch.c: a picture of curves over batch size: its labels, its heading, and where curves break even. How it looks
 * stands in plots/over_batch.gp. */
#include "gnuplot.h"
#include "harness/base/text.h"
#include "series.h"

#include <errno.h>
#include <math.h>
#include <string.h>

cnn_status series_add_thesis(series_set *set, cnn_error *err)
{
    const bool quotient = set->baseline[0] != '\0';
    static const char *const names[][2] = {{"ConvNetGo, published (CPU)", "2 × Xeon E5-2680 v2, 20 cores"},
                                           {"GoCuNets, published (GPU)", "GTX 1080 Ti"},
                                           {"thesis, published times", "GTX 1080 Ti over 2 × Xeon, 20 cores"}};
    const epoch_setting *job = &set->list[0].setting;
    char line[256], path[FOUND_PATH_MAX];
    double batch, cpu, gpu;
    if (strcmp(job->net, "thesis") != 0 || job->train_images != 60000 || job->test_images != 10000) return CNN_OK;
    cnn_status status = plot_file("thesis_table_4_2.dat", path, err);
    if (status != CNN_OK) return status;
    FILE *file = fopen(path, "re");
    if (!file) return CNN_FAIL(err, CNN_IO, "cannot read %s: %s", path, strerror(errno));
    series *added = &set->list[set->count];
    set->published = quotient ? 1 : 2;
    for (int k = 0; k < set->published; k++) {
        snprintf(added[k].label, SERIES_LABEL_MAX, "%s", names[quotient ? 2 : k][0]);
        snprintf(added[k].facts, SERIES_LABEL_MAX, "%s", names[quotient ? 2 : k][1]);
    }
    while (added->count < SERIES_POINTS_MAX && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lf %lf %lf", &batch, &cpu, &gpu) != 3) continue;
        const double values[] = {quotient ? cpu / gpu : cpu, gpu};
        for (int k = 0; k < set->published; k++)
            added[k].points[added[k].count++] =
                (series_point){.batch = batch, .seconds = values[k], .low = NAN, .high = NAN};
    }
    fclose(file);
    return CNN_OK;
}

/* What is drawn: the set's series, then the published ones. */
static int count_of(const series_set *set) { return set->count + set->published; }

/* Then the line of 1 is drawn, and where a curve crosses it. */
static bool has_ratios(const series_set *set) { return set->baseline[0] != '\0'; }

/* Blocks are parted by two empty lines: gnuplot's `index`. */
static void put_curves(FILE *to, const series_set *set)
{
    fputs("$curves << EOD\n", to);
    for (int i = 0; i < count_of(set); i++, fputs("\n\n", to))
        for (int k = 0; k < set->list[i].count; k++) {
            const series_point *at = &set->list[i].points[k];
            fprintf(to, "%.9g %.9g %.9g %.9g %d\n", at->batch, at->seconds, at->low, at->high, at->marks != 0);
        }
    fputs("EOD\n", to);
}

/* Where a curve passes 1 between two batch sizes, on the straight line that is drawn between them. */
static void put_evens(FILE *to, const series_set *set)
{
    int count = 0;
    for (int i = 0; has_ratios(set) && i < count_of(set); i++)
        for (int k = 0; k + 1 < set->list[i].count; k++) {
            const series_point *a = &set->list[i].points[k], *b = a + 1;
            const double from = log10(a->seconds), over = log10(b->seconds);
            if (!(from < 0 && over >= 0) && !(from > 0 && over <= 0)) continue;
            const double at = log10(a->batch) + (log10(b->batch) - log10(a->batch)) * from / (from - over);
            fprintf(to, "at%d=%.9g\n", count++, pow(10, at));
        }
    fprintf(to, "evens=%d\n", count);
}

/* The two lines of a curve's label, and its dash: of ratios the line is whole with data resident, dashed with transfers
 * counted. */
static void put_label(FILE *to, const series_set *set, int i)
{
    const series *s = &set->list[i];
    const series_point *best = &s->points[0];
    char note[SERIES_LABEL_MAX + 64];
    const bool published = i >= set->count, ratios = has_ratios(set);
    for (int k = 1; k < s->count; k++)
        if (ratios ? s->points[k].seconds > best->seconds : s->points[k].seconds < best->seconds) best = &s->points[k];
    if (published)
        snprintf(note, sizeof note, "%s", s->facts);
    else if (s->facts[0] != '\0')
        snprintf(note, sizeof note, "%s: %.3g %s at %.0f", s->facts, best->seconds, ratios ? "×" : "s", best->batch);
    else
        snprintf(note, sizeof note, "%s %.3g %s, at batch %.0f", ratios ? "up to" : "fastest:", best->seconds,
                 ratios ? "×" : "s", best->batch);
    gnuplot_text(to, "name", i, s->label);
    gnuplot_text(to, "note", i, note);
    const bool dashed = ratios && strcmp(s->setting.data_on, "host") == 0;
    fprintf(to, "dash%d=%d\n", i, !published ? dashed : ratios ? 2 : i - set->count + 1);
}

/* "60,000" from 60000. */
static const char *grouped(int64_t value, char text[32])
{
    if (value >= 1000)
        snprintf(text, 32, "%lld,%03lld", (long long)(value / 1000), (long long)(value % 1000));
    else
        snprintf(text, 32, "%lld", (long long)value);
    return text;
}

static void put_heading(FILE *to, const series_set *set)
{
    const epoch_setting *s = &set->list[0].setting;
    const char *grey = set->published ? ";  grey: as published in 2020, on other hardware" : "";
    const bool ratios = has_ratios(set);
    char train[32], test[32], text[2 * SERIES_LABEL_MAX];
    gnuplot_text(to, "title", -1,
                 set->title != NULL ? set->title
                 : ratios           ? "Speedup over batch size"
                                    : "Seconds per epoch over batch size");
    snprintf(text, sizeof text, "network %s, an epoch trains on %s images and tests on %s", s->net,
             grouped(s->train_images, train), grouped(s->test_images, test));
    if (ratios) cnn_append(text, sizeof text, "; %s", set->subtitle);
    gnuplot_text(to, "line", 0, text);
    snprintf(text, sizeof text, "%s%s%s", ratios ? "over " : "", ratios ? set->baseline : set->subtitle,
             ratios ? "" : grey);
    gnuplot_text(to, "line", 1, text);
    snprintf(text, sizeof text, "bars: what the intervals of both medians allow%s", grey);
    gnuplot_text(to, "line", 2, ratios ? text : "");
}

cnn_status series_picture(FILE *to, void *user, cnn_error *err)
{
    const series_set *set = user;
    char names[128], foot[256];
    unsigned marks = 0;
    put_heading(to, set);
    for (int i = 0; i < set->count; i++)
        for (int k = 0; k < set->list[i].count; k++) marks |= set->list[i].points[k].marks;
    snprintf(foot, sizeof foot, "%s%s", marks ? "hollow points: " : "", bench_marks_text(marks, names, sizeof names));
    gnuplot_text(to, "foot", -1, foot);
    gnuplot_text(to, "unit", -1, has_ratios(set) ? "×" : "s");
    fprintf(to, "even=%d\ncount=%d\nours=%d\n", has_ratios(set), count_of(set), set->count);
    for (int i = 0; i < count_of(set); i++) put_label(to, set, i);
    put_curves(to, set);
    put_evens(to, set);
    (void)err;
    return CNN_OK;
}
