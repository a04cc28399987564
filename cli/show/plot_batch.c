/* plot_batch.c: what gnuplot reads of curves over batch size; how it looks stands in plots/over_batch.gp. */
#include "plot_batch.h"

#include <errno.h>
#include <math.h>
#include <string.h>

cnn_status plot_thesis(const epoch_setting *setting, thesis_table *thesis, cnn_error *err)
{
    char line[256], path[PATH_SIZE];
    memset(thesis, 0, sizeof *thesis);
    if (strcmp(setting->net, "thesis") != 0 || setting->train_images != 60000 || setting->test_images != 10000)
        return CNN_OK;
    cnn_status status = plot_file("thesis_table_4_2.dat", path, PATH_SIZE, err);
    if (status != CNN_OK) return status;
    FILE *file = fopen(path, "re");
    if (!file) return CNN_FAIL(err, CNN_IO, "cannot read %s: %s", path, strerror(errno));
    while (thesis->count < THESIS_POINTS && fgets(line, sizeof line, file)) {
        double batch, seconds[THESIS_SERIES];
        if (sscanf(line, "%lf %lf %lf", &batch, &seconds[0], &seconds[1]) != 3) continue;
        for (int k = 0; k < THESIS_SERIES; k++)
            thesis->points[k][thesis->count] =
                (series_point){.batch = batch, .seconds = seconds[k], .low = NAN, .high = NAN};
        thesis->count++;
    }
    fclose(file);
    return CNN_OK;
}

const char *plot_grouped(int64_t value, char text[32])
{
    if (value >= 1000)
        snprintf(text, 32, "%lld,%03lld", (long long)(value / 1000), (long long)(value % 1000));
    else
        snprintf(text, 32, "%lld", (long long)value);
    return text;
}

typedef struct frame { /* of the picture, in logarithms to base 10 */
    double x_low, x_high, y_low, y_high;
} frame;

static frame frame_of(const batch_picture *p)
{
    frame f = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (int i = 0; i < p->count; i++)
        for (int k = 0; k < p->curves[i].count; k++) {
            const series_point *at = &p->curves[i].points[k];
            f.x_low = fmin(f.x_low, log10(at->batch));
            f.x_high = fmax(f.x_high, log10(at->batch));
            f.y_low = fmin(f.y_low, log10(fmin(at->seconds, at->low))); /* fmin passes over a NaN */
            f.y_high = fmax(f.y_high, log10(fmax(at->seconds, at->high)));
        }
    if (p->break_even) {
        f.y_low = fmin(f.y_low, 0);
        f.y_high = fmax(f.y_high, 0);
    }
    const double y_margin = fmax(0.06 * (f.y_high - f.y_low), 0.1), x_margin = f.x_high > f.x_low ? 0.06 : 0.5;
    return (frame){f.x_low - x_margin, f.x_high + x_margin, f.y_low - y_margin, f.y_high + y_margin};
}

static void place_labels(batch_picture *p, const frame *f)
{
    double places[BATCH_CURVES], gap = 0.09 * (f->y_high - f->y_low);
    for (int i = 0; i < p->count; i++) places[i] = log10(p->curves[i].points[p->curves[i].count - 1].seconds);
    series_spread(places, p->count, gap, f->y_low + gap / 2, f->y_high);
    for (int i = 0; i < p->count; i++) p->curves[i].place = pow(10, places[i]);
}

/* Blocks are parted by two empty lines: gnuplot's `index`. */
static cnn_status write_curves(const batch_picture *p, const char *folder, cnn_error *err)
{
    FILE *file = plot_create(folder, "curves.dat", err);
    if (!file) return err->status;
    for (int i = 0; i < p->count; i++) {
        for (int k = 0; k < p->curves[i].count; k++) {
            const series_point *at = &p->curves[i].points[k];
            fprintf(file, "%.9g %.9g %.9g %.9g %d\n", at->batch, at->seconds, at->low, at->high, at->marks != 0);
        }
        fputs("\n\n", file);
    }
    return plot_close(file, folder, err);
}

static cnn_status write_leaders(const batch_picture *p, const frame *f, const char *folder, cnn_error *err)
{
    FILE *file = plot_create(folder, "leaders.dat", err);
    if (!file) return err->status;
    for (int i = 0; i < p->count; i++) {
        const series_point *end = &p->curves[i].points[p->curves[i].count - 1];
        fprintf(file, "%.9g %.9g\n%.9g %.9g\n\n\n", end->batch, end->seconds, pow(10, f->x_high), p->curves[i].place);
    }
    return plot_close(file, folder, err);
}

/* Where a curve passes 1 between two batch sizes, on the straight line that is drawn between them. One close to another
 * whose batch is named stands without a text: the two would collide. */
static void set_evens(const batch_picture *p, const frame *f, char *settings)
{
    double named[BATCH_CURVES];
    int count = 0, n_named = 0;
    for (int i = 0; p->break_even && i < p->count; i++)
        for (int k = 0; k + 1 < p->curves[i].count; k++) {
            const series_point *a = &p->curves[i].points[k], *b = a + 1;
            const double from = log10(a->seconds), to = log10(b->seconds);
            char text[32] = "";
            bool near = n_named == BATCH_CURVES;
            if (!(from < 0 && to >= 0) && !(from > 0 && to <= 0)) continue;
            const double at = log10(a->batch) + (log10(b->batch) - log10(a->batch)) * from / (from - to);
            for (int n = 0; n < n_named; n++) near = near || fabs(named[n] - at) < 0.08 * (f->x_high - f->x_low);
            if (!near) {
                named[n_named++] = at;
                snprintf(text, sizeof text, "at %.0f", pow(10, at));
            }
            plot_set_real(settings, "at", count, pow(10, at));
            plot_set_text(settings, "text", count++, text);
        }
    gnuplot_set_real(settings, SETTINGS_SIZE, "evens", count);
}

/* The side of the picture whose curves keep farther from 1 has room for the words at that line. */
static int even_at(const batch_picture *p, const frame *f)
{
    double near[2] = {INFINITY, INFINITY};
    for (int i = 0; i < p->count; i++)
        for (int k = 0; k < p->curves[i].count; k++) {
            const series_point *at = &p->curves[i].points[k];
            const double x = (log10(at->batch) - f->x_low) / (f->x_high - f->x_low);
            if (x < 0.3) near[0] = fmin(near[0], fabs(log10(at->seconds)));
            if (x > 0.7) near[1] = fmin(near[1], fabs(log10(at->seconds)));
        }
    return near[1] > near[0];
}

/* "hollow points: spread, disturbed": which marks the points bear; "" without any. */
static void foot_text(const batch_picture *p, char *text, size_t size)
{
    char names[128];
    unsigned marks = 0;
    for (int i = 0; i < p->count; i++)
        for (int k = 0; k < p->curves[i].count; k++) marks |= p->curves[i].points[k].marks;
    bench_marks_text(marks, names, sizeof names);
    snprintf(text, size, "%s%s", marks ? "hollow points: " : "", names);
}

static void make_settings(const batch_picture *p, const frame *f, const char *folder, char *settings)
{
    char foot[256];
    settings[0] = '\0';
    gnuplot_set_text(settings, SETTINGS_SIZE, "folder", folder);
    gnuplot_set_text(settings, SETTINGS_SIZE, "title", p->title);
    for (int i = 0; i < BATCH_LINES; i++) plot_set_text(settings, "line", i, p->lines[i]);
    foot_text(p, foot, sizeof foot);
    gnuplot_set_text(settings, SETTINGS_SIZE, "foot", foot);
    gnuplot_set_text(settings, SETTINGS_SIZE, "unit", p->unit);
    gnuplot_set_real(settings, SETTINGS_SIZE, "even", p->break_even);
    gnuplot_set_real(settings, SETTINGS_SIZE, "even_at", even_at(p, f));
    set_evens(p, f, settings);
    gnuplot_set_real(settings, SETTINGS_SIZE, "x_low", pow(10, f->x_low));
    gnuplot_set_real(settings, SETTINGS_SIZE, "x_high", pow(10, f->x_high));
    gnuplot_set_real(settings, SETTINGS_SIZE, "y_low", pow(10, f->y_low));
    gnuplot_set_real(settings, SETTINGS_SIZE, "y_high", pow(10, f->y_high));
    gnuplot_set_real(settings, SETTINGS_SIZE, "count", p->count);
    gnuplot_set_real(settings, SETTINGS_SIZE, "ours", p->ours);
    for (int i = 0; i < p->count; i++) {
        plot_set_text(settings, "name", i, p->curves[i].name);
        plot_set_text(settings, "note", i, p->curves[i].note);
        plot_set_real(settings, "place", i, p->curves[i].place);
        plot_set_real(settings, "tone", i, p->curves[i].tone);
        plot_set_real(settings, "dash", i, p->curves[i].dash);
    }
}

cnn_status plot_batch(batch_picture *p, const char *name, cnn_error *err)
{
    char settings[SETTINGS_SIZE], script[PATH_SIZE], folder[PATH_SIZE];
    const frame f = frame_of(p);
    cnn_status status = plot_file("over_batch.gp", script, PATH_SIZE, err);
    if (status == CNN_OK) status = plot_folder(folder, PATH_SIZE, err);
    if (status != CNN_OK) return status;
    place_labels(p, &f);
    make_settings(p, &f, folder, settings);
    status = write_curves(p, folder, err);
    if (status == CNN_OK) status = write_leaders(p, &f, folder, err);
    if (status == CNN_OK) status = plot_draw(settings, script, folder, name, err);
    plot_folder_remove(folder);
    return status;
}
