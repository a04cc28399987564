/* plot_roofline.c: `benchcnn plot roofline FILE.jsonl...`: problems x algorithms under the measured roofs. What gnuplot
 * reads goes to a temporary folder; how it looks stands in plots/roofline.gp. */
#include "bench/figures/roofline.h"
#include "cli/table.h"
#include "harness/problem/names.h"
#include "plot_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS_MAX = 20 }; /* problems that are named; with more of them, none is */

typedef struct roof_frame {
    double x_low, x_high, y_low, y_high;
} roof_frame;

/* "Xeon, 2 threads"; a GPU's name alone. */
static void describe_machine(const roofline *r, char *text, size_t size)
{
    char threads[32] = "";
    if (r->threads > 0) snprintf(threads, sizeof threads, ", %d thread%s", r->threads, r->threads == 1 ? "" : "s");
    snprintf(text, size, "%s%s", r->machine, threads);
}

static cnn_status read_files(const cli_options *options, roofline *r, cnn_error *err)
{
    char machine[2 * CNN_NAME_MAX];
    cnn_status status = CNN_OK;
    for (int i = 1; status == CNN_OK && i < options->words.count; i++) {
        int bad = 0;
        status = roofline_read(r, options->words.items[i], &bad, err);
        if (status == CNN_OK) cli_say_bad_lines(options->words.items[i], bad);
    }
    if (status == CNN_OK) status = roofline_make_roofs(r, err);
    describe_machine(r, machine, sizeof machine);
    if (status == CNN_OK && r->left_out > 0)
        table_put(stderr, "benchcnn: drawing %s; %d figures of others are left out\n", machine, r->left_out);
    return status;
}

/* All points, and the knee of the main roofs. */
static roof_frame frame_of(const roofline *r)
{
    double top = 0, bandwidth = 0;
    roof_frame f = {INFINITY, 0, INFINITY, 0};
    for (int i = 0; i < r->n_roofs; i++) {
        const roofline_roof *roof = &r->roofs[i];
        if (!roof->memory) top = fmax(top, roof->value);
        if (roof->memory && roof->main) bandwidth = roof->value;
    }
    f.x_low = f.x_high = top / bandwidth;
    f.y_low = f.y_high = top;
    for (int i = 0; i < r->n_points; i++) {
        f.x_low = fmin(f.x_low, r->points[i].intensity);
        f.x_high = fmax(f.x_high, r->points[i].intensity);
        f.y_low = fmin(f.y_low, r->points[i].rate);
        f.y_high = fmax(f.y_high, r->points[i].rate);
    }
    return (roof_frame){f.x_low / 2, f.x_high * 3, f.y_low / 2, f.y_high * 2.5};
}

/* Each roof as two points: a bandwidth from the left up to the highest peak, a peak from there to the right. */
static cnn_status write_roofs(const roofline *r, const roof_frame *f, const char *folder, cnn_error *err)
{
    FILE *file = plot_create(folder, "roofs.dat", err);
    double top = 0, bandwidth = 0;
    if (!file) return err->status;
    for (int i = 0; i < r->n_roofs; i++) {
        if (!r->roofs[i].memory) top = fmax(top, r->roofs[i].value);
        if (r->roofs[i].memory) bandwidth = fmax(bandwidth, r->roofs[i].value);
    }
    for (int i = 0; i < r->n_roofs; i++) {
        const roofline_roof *roof = &r->roofs[i];
        if (roof->memory)
            fprintf(file, "%.9g %.9g\n%.9g %.9g\n\n\n", f->x_low, f->x_low * roof->value, top / roof->value, top);
        else
            fprintf(file, "%.9g %.9g\n%.9g %.9g\n\n\n", roof->value / bandwidth, roof->value, f->x_high, roof->value);
    }
    return plot_close(file, folder, err);
}

/* A block for each series and direction; a block without points would not count as one: it gets a point off the frame.
 */
static cnn_status write_points(const roofline *r, const roof_frame *f, const char *folder, cnn_error *err)
{
    FILE *file = plot_create(folder, "points.dat", err);
    if (!file) return err->status;
    for (int s = 0; s < r->n_series; s++)
        for (int d = 0; d < CNN_DIR_COUNT; d++) {
            int count = 0;
            for (int i = 0; i < r->n_points; i++) {
                const roofline_point *p = &r->points[i];
                if (p->series != s || (int)p->dir != d) continue;
                fprintf(file, "%.9g %.9g\n", p->intensity, p->rate);
                count++;
            }
            if (count == 0) fprintf(file, "%.9g %.9g\n", f->x_low / 10, f->y_low / 10);
            fputs("\n\n", file);
        }
    return plot_close(file, folder, err);
}

/* The problem's number above its fastest point. */
static cnn_status write_numbers(const roofline *r, const char *folder, cnn_error *err)
{
    FILE *file = plot_create(folder, "numbers.dat", err);
    if (!file) return err->status;
    for (int i = 0; i < r->n_points; i++) {
        const roofline_point *p = &r->points[i];
        bool fastest = true;
        for (int k = 0; k < r->n_points; k++)
            if (r->points[k].problem == p->problem && r->points[k].rate > p->rate) fastest = false;
        if (fastest) fprintf(file, "%.9g %.9g %d\n", p->intensity, p->rate, p->problem + 1);
    }
    return plot_close(file, folder, err);
}

static void make_settings(const roofline *r, const roof_frame *f, const char *folder, char *settings)
{
    char text[2 * CNN_NAME_MAX];
    settings[0] = '\0';
    gnuplot_set_text(settings, SETTINGS_SIZE, "folder", folder);
    describe_machine(r, text, sizeof text);
    gnuplot_set_text(settings, SETTINGS_SIZE, "machine", text);
    gnuplot_set_real(settings, SETTINGS_SIZE, "x_low", f->x_low);
    gnuplot_set_real(settings, SETTINGS_SIZE, "x_high", f->x_high);
    gnuplot_set_real(settings, SETTINGS_SIZE, "y_low", f->y_low);
    gnuplot_set_real(settings, SETTINGS_SIZE, "y_high", f->y_high);
    gnuplot_set_real(settings, SETTINGS_SIZE, "series", r->n_series);
    gnuplot_set_real(settings, SETTINGS_SIZE, "roofs", r->n_roofs);
    gnuplot_set_real(settings, SETTINGS_SIZE, "problems", r->n_problems <= NUMBERS_MAX ? r->n_problems : 0);
    for (int i = 0; i < r->n_series; i++) plot_set_text(settings, "name", i, r->series[i]);
    for (int i = 0; i < r->n_problems && r->n_problems <= NUMBERS_MAX; i++)
        plot_set_text(settings, "problem", i, r->problems[i]);
    for (int i = 0; i < r->n_roofs; i++) {
        const roofline_roof *roof = &r->roofs[i];
        const bool tera = roof->value >= (roof->memory ? 1e12 : 1e13);
        snprintf(text, sizeof text, "%.100s  %.3g %s", roof->name, roof->value * (tera ? 1e-12 : 1e-9),
                 roof->memory ? (tera ? "TB/s" : "GB/s") : (tera ? "TFLOP/s" : "GFLOP/s"));
        plot_set_text(settings, "roof", i, text);
        plot_set_real(settings, "memory", i, roof->memory);
        plot_set_real(settings, "main", i, roof->main);
        plot_set_real(settings, "value", i, roof->value);
    }
}

static cnn_status draw_all(const cli_options *options, const roofline *r, cnn_error *err)
{
    char settings[SETTINGS_SIZE], script[PATH_SIZE], folder[PATH_SIZE], name[PATH_SIZE - 64];
    const roof_frame f = frame_of(r);
    cnn_status status = plot_file("roofline.gp", script, PATH_SIZE, err);
    if (status == CNN_OK) status = plot_folder(folder, PATH_SIZE, err);
    if (status != CNN_OK) return status;
    plot_name(options, options->words.items[1], name, sizeof name);
    make_settings(r, &f, folder, settings);
    status = write_roofs(r, &f, folder, err);
    if (status == CNN_OK) status = write_points(r, &f, folder, err);
    if (status == CNN_OK) status = write_numbers(r, folder, err);
    if (status == CNN_OK) status = plot_draw(settings, script, folder, name, err);
    plot_folder_remove(folder);
    return status;
}

cnn_status plot_roofline(const cli_options *options, cnn_error *err)
{
    roofline *r = calloc(1, sizeof *r); /* large */
    if (!r) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plot");
    cnn_status status = read_files(options, r, err);
    if (status == CNN_OK) status = draw_all(options, r, err);
    roofline_free(r);
    free(r);
    return status;
}
