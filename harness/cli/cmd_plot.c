/* cmd_plot.c: `benchcnn plot [roofline] FILE.jsonl...`: epoch time over batch size as SVG and PNG. It writes what
 * gnuplot reads (curves, labels, ranges) to a temporary folder; how it looks stands in plots/epoch_over_batch.gp. */
#include "../names.h"
#include "bench/series.h"
#include "plot_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THESIS_SERIES = 2, THESIS_POINTS = 12 };

/* The thesis's two curves, from plots/thesis_table_4_2.dat; count 0 where the records are of another job. */
typedef struct thesis_table {
    char path[PATH_SIZE];
    int count;
    double batch[THESIS_POINTS], seconds[THESIS_SERIES][THESIS_POINTS];
} thesis_table;

typedef struct frame { /* of the picture, in logarithms to base 10 */
    double x_low, x_high, y_low, y_high;
} frame;

static cnn_status read_records(const cli_options *options, epoch_table *table, cnn_error *err)
{
    for (int i = 0; i < options->words.count; i++) {
        int bad;
        cnn_status status = epoch_table_read(table, options->words.items[i], &bad, err);
        if (status != CNN_OK) return status;
        cli_say_bad_lines(options->words.items[i], bad);
    }
    if (table->superseded > 0)
        fprintf(stderr, "left out: %d epoch record%s of points that another build has measured since\n",
                table->superseded, table->superseded == 1 ? "" : "s");
    if (table->count > 0) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s holds no epoch records: `benchcnn sweep batch --out FILE` writes them",
                    options->words.count == 1 ? options->words.items[0] : "none of the files");
}

/* The published times are for the thesis's network and whole epochs; beside anything else they would mislead. */
static cnn_status read_thesis(const epoch_setting *ours, thesis_table *thesis, cnn_error *err)
{
    char line[256];
    memset(thesis, 0, sizeof *thesis);
    if (strcmp(ours->net, "thesis") != 0 || ours->train_images != 60000 || ours->test_images != 10000) return CNN_OK;
    cnn_status status = plot_file("thesis_table_4_2.dat", thesis->path, PATH_SIZE, err);
    if (status != CNN_OK) return status;
    FILE *file = fopen(thesis->path, "re");
    if (!file) return CNN_FAIL(err, CNN_IO, "cannot read %s: %s", thesis->path, strerror(errno));
    while (thesis->count < THESIS_POINTS && fgets(line, sizeof line, file)) {
        int i = thesis->count;
        if (sscanf(line, "%lf %lf %lf", &thesis->batch[i], &thesis->seconds[0][i], &thesis->seconds[1][i]) == 3)
            thesis->count++;
    }
    fclose(file);
    return CNN_OK;
}

static void widen(frame *f, double batch, double seconds)
{
    f->x_low = fmin(f->x_low, log10(batch));
    f->x_high = fmax(f->x_high, log10(batch));
    f->y_low = fmin(f->y_low, log10(seconds));
    f->y_high = fmax(f->y_high, log10(seconds));
}

static frame frame_of(const series_set *set, const thesis_table *thesis)
{
    frame f = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (int i = 0; i < set->count; i++)
        for (int p = 0; p < set->list[i].count; p++)
            widen(&f, set->list[i].points[p].batch, set->list[i].points[p].seconds);
    for (int k = 0; k < THESIS_SERIES; k++)
        for (int p = 0; p < thesis->count; p++) widen(&f, thesis->batch[p], thesis->seconds[k][p]);
    double y_margin = fmax(0.06 * (f.y_high - f.y_low), 0.1), x_margin = f.x_high > f.x_low ? 0.06 : 0.5;
    return (frame){f.x_low - x_margin, f.x_high + x_margin, f.y_low - y_margin, f.y_high + y_margin};
}

static const series_point *fastest(const series *s)
{
    const series_point *best = &s->points[0];
    for (int i = 1; i < s->count; i++)
        if (s->points[i].seconds < best->seconds) best = &s->points[i];
    return best;
}

/* A label at the right of a curve: where the curve ends, where the label stands, and its two lines of text. */
typedef struct label {
    double batch, seconds, place;
    char name[SERIES_LABEL_MAX], note[SERIES_LABEL_MAX + 64];
} label;

typedef struct picture {
    const series_set *set;
    thesis_table thesis;
    frame frame;
    label labels[SERIES_MAX + THESIS_SERIES]; /* ours first */
    int label_count;
} picture;

static void make_labels(picture *p)
{
    static const char *const thesis_names[THESIS_SERIES][2] = {
        {"ConvNetGo, published (CPU)", "2 × Xeon E5-2680 v2, 20 cores"}, {"GoCuNets, published (GPU)", "GTX 1080 Ti"}};
    double places[SERIES_MAX + THESIS_SERIES], height = p->frame.y_high - p->frame.y_low, gap = 0.09 * height;
    int last = p->thesis.count - 1;
    for (int i = 0; i < p->set->count; i++) {
        const series *s = &p->set->list[i];
        const series_point *end = &s->points[s->count - 1], *best = fastest(s);
        label *l = &p->labels[p->label_count++];
        *l = (label){.batch = end->batch, .seconds = end->seconds};
        snprintf(l->name, sizeof l->name, "%s", s->label);
        if (s->facts[0] != '\0')
            snprintf(l->note, sizeof l->note, "%s: %.3g s at %.0f", s->facts, best->seconds, best->batch);
        else
            snprintf(l->note, sizeof l->note, "fastest: %.3g s, at batch %.0f", best->seconds, best->batch);
    }
    for (int k = 0; k < THESIS_SERIES && last >= 0; k++) {
        label *l = &p->labels[p->label_count++];
        *l = (label){.batch = p->thesis.batch[last], .seconds = p->thesis.seconds[k][last]};
        snprintf(l->name, sizeof l->name, "%s", thesis_names[k][0]);
        snprintf(l->note, sizeof l->note, "%s", thesis_names[k][1]);
    }
    for (int i = 0; i < p->label_count; i++) places[i] = log10(p->labels[i].seconds);
    series_spread(places, p->label_count, gap, p->frame.y_low + gap / 2, p->frame.y_high);
    for (int i = 0; i < p->label_count; i++) p->labels[i].place = pow(10, places[i]);
}

/* Blocks are parted by two empty lines: gnuplot's `index`. */
static cnn_status write_data(const picture *p, const char *folder, cnn_error *err)
{
    FILE *file = plot_create(folder, "curves.dat", err);
    if (!file) return err->status;
    for (int i = 0; i < p->set->count; i++) {
        const series *s = &p->set->list[i];
        for (int k = 0; k < s->count; k++)
            fprintf(file, "%.9g %.9g %d\n", s->points[k].batch, s->points[k].seconds, s->points[k].marks != 0);
        fputs("\n\n", file);
    }
    if (plot_close(file, folder, err) != CNN_OK) return err->status;
    file = plot_create(folder, "leaders.dat", err);
    if (!file) return err->status;
    for (int i = 0; i < p->label_count; i++)
        fprintf(file, "%.9g %.9g\n%.9g %.9g\n\n\n", p->labels[i].batch, p->labels[i].seconds, pow(10, p->frame.x_high),
                p->labels[i].place);
    return plot_close(file, folder, err);
}

/* 60000 -> "60,000" */
static const char *grouped(int64_t value, char text[32])
{
    if (value >= 1000)
        snprintf(text, 32, "%lld,%03lld", (long long)(value / 1000), (long long)(value % 1000));
    else
        snprintf(text, 32, "%lld", (long long)value);
    return text;
}

/* "hollow: spread, disturbed": which marks the hollow points bear; "" without any. */
static void legend_text(const series_set *set, char *text, size_t size)
{
    char names[128];
    unsigned marks = 0;
    for (int i = 0; i < set->count; i++)
        for (int k = 0; k < set->list[i].count; k++) marks |= set->list[i].points[k].marks;
    bench_marks_text(marks, names, sizeof names);
    snprintf(text, size, "%s%s", marks ? "hollow points: " : "", names);
}

static void common_settings(const picture *p, const char *folder, char *settings)
{
    char text[2 * SERIES_LABEL_MAX], train[32], test[32], name[16];
    const epoch_setting *s = &p->set->list[0].setting;
    settings[0] = '\0';
    gnuplot_set_text(settings, SETTINGS_SIZE, "folder", folder);
    gnuplot_set_text(settings, SETTINGS_SIZE, "thesis", p->thesis.path);
    gnuplot_set_real(settings, SETTINGS_SIZE, "count", p->set->count);
    gnuplot_set_real(settings, SETTINGS_SIZE, "x_low", pow(10, p->frame.x_low));
    gnuplot_set_real(settings, SETTINGS_SIZE, "x_high", pow(10, p->frame.x_high));
    gnuplot_set_real(settings, SETTINGS_SIZE, "y_low", pow(10, p->frame.y_low));
    gnuplot_set_real(settings, SETTINGS_SIZE, "y_high", pow(10, p->frame.y_high));
    gnuplot_set_text(settings, SETTINGS_SIZE, "title", "Seconds per epoch over batch size");
    snprintf(text, sizeof text, "network %s, an epoch trains on %s images and tests on %s", s->net,
             grouped(s->train_images, train), grouped(s->test_images, test));
    gnuplot_set_text(settings, SETTINGS_SIZE, "job", text);
    gnuplot_set_text(settings, SETTINGS_SIZE, "machine", p->set->subtitle);
    legend_text(p->set, text, sizeof text);
    gnuplot_set_text(settings, SETTINGS_SIZE, "hollow", text);
    for (int i = 0; i < p->label_count; i++) {
        snprintf(name, sizeof name, "name%d", i);
        gnuplot_set_text(settings, SETTINGS_SIZE, name, p->labels[i].name);
        snprintf(name, sizeof name, "note%d", i);
        gnuplot_set_text(settings, SETTINGS_SIZE, name, p->labels[i].note);
        snprintf(name, sizeof name, "place%d", i);
        gnuplot_set_real(settings, SETTINGS_SIZE, name, p->labels[i].place);
    }
}

static cnn_status draw_all(const cli_options *options, picture *p, cnn_error *err)
{
    char settings[SETTINGS_SIZE], script[PATH_SIZE], folder[PATH_SIZE], name[PATH_SIZE - 64];
    cnn_status status = read_thesis(&p->set->list[0].setting, &p->thesis, err);
    if (status == CNN_OK) status = plot_file("epoch_over_batch.gp", script, PATH_SIZE, err);
    if (status == CNN_OK) status = plot_folder(folder, PATH_SIZE, err);
    if (status != CNN_OK) return status;
    p->frame = frame_of(p->set, &p->thesis);
    make_labels(p);
    plot_name(options, options->words.items[0], name, sizeof name);
    common_settings(p, folder, settings);
    status = write_data(p, folder, err);
    if (status == CNN_OK) status = plot_draw(settings, script, folder, name, err);
    plot_folder_remove(folder);
    return status;
}

cnn_status args_plot(const cli_options *options, cnn_error *err)
{
    static const char *const pictures[] = {"roofline"};
    if (options->words.count == 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "plot needs record files: benchcnn plot FILE.jsonl... [--out NAME]");
    const char *word = options->words.items[0];
    if (strcmp(word, pictures[0]) == 0 || access(word, F_OK) == 0 || !cnn_nearest_name(word, pictures, 1))
        return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "'%.64s' is no file, and no command of plot; did you mean '%s'?", word,
                    pictures[0]);
}

int cmd_plot(const cli_options *options, cnn_error *err)
{
    epoch_table table = {0};
    series_set set = {0};
    cnn_status status;
    if (strcmp(options->words.items[0], "roofline") == 0)
        return plot_roofline(options, err) == CNN_OK ? EXIT_HELD : cli_fail(err);
    picture *p = calloc(1, sizeof *p); /* large: kept off the stack */
    status = p ? read_records(options, &table, err) : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plot");
    if (status == CNN_OK) p->set = &set;
    if (status == CNN_OK) status = series_make(&table, &set, err);
    if (status == CNN_OK && set.left_out > 0)
        fprintf(stderr, "benchcnn: drawing network %s with %lld + %lld images; %d records of others are left out\n",
                set.list[0].setting.net, (long long)set.list[0].setting.train_images,
                (long long)set.list[0].setting.test_images, set.left_out);
    if (status == CNN_OK && set.diverged > 0)
        fprintf(stderr, "benchcnn: %d epoch%s left out: the training diverged, its loss is not finite\n", set.diverged,
                set.diverged == 1 ? " is" : "s are");
    if (status == CNN_OK) status = draw_all(options, p, err);
    free(p);
    series_free(&set);
    epoch_table_free(&table);
    return status == CNN_OK ? EXIT_HELD : cli_fail(err);
}
