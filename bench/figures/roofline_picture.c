/* roofline_picture.c: what plots/roofline.gp draws: problems x algorithms under the measured roofs. */
#include "gnuplot.h"
#include "roofline.h"

#include <math.h>

enum { NUMBERS_MAX = 20 }; /* problems that are named; with more of them, none is */

static void put_roofs(FILE *to, const roofline *r, double x_low, double x_high, double top)
{
    double bandwidth = 0;
    for (int i = 0; i < r->n_roofs; i++)
        if (r->roofs[i].memory) bandwidth = fmax(bandwidth, r->roofs[i].value);
    fputs("$roofs << EOD\n", to);
    for (int i = 0; i < r->n_roofs; i++) {
        const double value = r->roofs[i].value;
        if (r->roofs[i].memory)
            fprintf(to, "%.9g %.9g\n%.9g %.9g\n\n\n", x_low, x_low * value, top / value, top);
        else
            fprintf(to, "%.9g %.9g\n%.9g %.9g\n\n\n", value / bandwidth, value, x_high, value);
    }
    fputs("EOD\n", to);
    for (int i = 0; i < r->n_roofs; i++) {
        const roofline_roof *roof = &r->roofs[i];
        const bool tera = roof->value >= (roof->memory ? 1e12 : 1e13);
        char text[2 * CNN_NAME_MAX];
        snprintf(text, sizeof text, "%.100s  %.3g %s", roof->name, roof->value * (tera ? 1e-12 : 1e-9),
                 roof->memory ? (tera ? "TB/s" : "GB/s") : (tera ? "TFLOP/s" : "GFLOP/s"));
        gnuplot_text(to, "roof", i, text);
        fprintf(to, "memory%d=%d\nmain%d=%d\nvalue%d=%.9g\n", i, roof->memory, i, roof->main, i, roof->value);
    }
}

/* The problem's number stands above its fastest point. */
static int number_of(const roofline *r, const roofline_point *p)
{
    for (int i = 0; i < r->n_points; i++)
        if (r->points[i].problem == p->problem && r->points[i].rate > p->rate) return 0;
    return p->problem + 1;
}

cnn_status roofline_picture(FILE *to, void *user, cnn_error *err)
{
    const roofline *r = user;
    const int named = r->n_problems <= NUMBERS_MAX ? r->n_problems : 0;
    double top = 0, bandwidth = 0;
    char text[2 * CNN_NAME_MAX];
    for (int i = 0; i < r->n_roofs; i++) {
        const roofline_roof *roof = &r->roofs[i];
        if (!roof->memory) top = fmax(top, roof->value);
        if (roof->memory && roof->main) bandwidth = roof->value;
    }
    double x_low = top / bandwidth, x_high = x_low, y_low = top,
           y_high = top; /* the knee of the main roofs, all points */
    fputs("$points << EOD\n", to);
    for (int i = 0; i < r->n_points; i++) {
        const roofline_point *p = &r->points[i];
        fprintf(to, "%.9g %.9g %d %d %d\n", p->intensity, p->rate, p->series, (int)p->dir, number_of(r, p));
        x_low = fmin(x_low, p->intensity);
        x_high = fmax(x_high, p->intensity);
        y_low = fmin(y_low, p->rate);
        y_high = fmax(y_high, p->rate);
    }
    fprintf(to, "EOD\nx_low=%.9g\nx_high=%.9g\ny_low=%.9g\ny_high=%.9g\n", x_low / 2, x_high * 3, y_low / 2,
            y_high * 2.5);
    fprintf(to, "series=%d\nroofs=%d\nproblems=%d\n", r->n_series, r->n_roofs, named);
    gnuplot_text(to, "machine", -1, roofline_machine(r, text, sizeof text));
    for (int i = 0; i < r->n_series; i++) gnuplot_text(to, "name", i, r->series[i]);
    for (int i = 0; i < named; i++) gnuplot_text(to, "problem", i, r->problems[i]);
    put_roofs(to, r, x_low / 2, x_high * 3, top);
    (void)err;
    return CNN_OK;
}
