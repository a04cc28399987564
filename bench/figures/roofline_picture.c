/* roofline_picture.c: what plots/roofline.gp draws: problems x algorithms under the measured roofs. */
#include "gnuplot.h"
#include "roofline.h"

enum { NUMBERS_MAX = 20 }; /* problems that are named; with more of them, none is */

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
    char text[2 * CNN_NAME_MAX];
    fputs("$points << EOD\n", to);
    for (int i = 0; i < r->n_points; i++) {
        const roofline_point *p = &r->points[i];
        fprintf(to, "%.9g %.9g %d %d %d\n", p->intensity, p->rate, p->series, (int)p->dir, number_of(r, p));
    }
    fprintf(to, "EOD\nseries=%d\nroofs=%d\nproblems=%d\n", r->n_series, r->n_roofs, named);
    gnuplot_text(to, "machine", -1, roofline_machine(r, text, sizeof text));
    for (int i = 0; i < r->n_series; i++) gnuplot_text(to, "name", i, r->series[i]);
    for (int i = 0; i < named; i++) gnuplot_text(to, "problem", i, r->problems[i]);
    for (int i = 0; i < r->n_roofs; i++) {
        const roofline_roof *roof = &r->roofs[i];
        const bool tera = roof->value >= (roof->memory ? 1e12 : 1e13);
        snprintf(text, sizeof text, "%.100s  %.3g %s", roof->name, roof->value * (tera ? 1e-12 : 1e-9),
                 roof->memory ? (tera ? "TB/s" : "GB/s") : (tera ? "TFLOP/s" : "GFLOP/s"));
        gnuplot_text(to, "roof", i, text);
        fprintf(to, "memory%d=%d\nmain%d=%d\nvalue%d=%.9g\n", i, roof->memory, i, roof->main, i, roof->value);
    }
    (void)err;
    return CNN_OK;
}
