/* plot_operations.c: the kinds of `plot` that show single operations, layers and checks. */
#include "bench/figures/bars.h"
#include "bench/figures/errors.h"
#include "bench/figures/floors.h"
#include "bench/figures/kills.h"
#include "bench/figures/roofline.h"
#include "bench/figures/solved.h"
#include "bench/figures/sweeps.h"
#include "cli/table.h"
#include "parts.h"
#include "plots.h"

#include <string.h>

/* ---- Speedups */

cnn_status plot_speedup(const cli_options *options, const plot_to *to, cnn_error *err)
{
    speedup_set set = {.count = 0};
    cnn_status status = cli_speedups(options, 1, plot_says(to), &set, err);
    const bool epochs = speedup_has(&set, true), operations = speedup_has(&set, false);
    if (status == CNN_OK && epochs) status = plot_draw("over_batch.gp", to, "", speedup_curves, &set, err);
    if (status == CNN_OK && operations)
        status = plot_draw("speedup_problems.gp", to, epochs ? "_problems" : "", speedup_bars, &set, err);
    cli_speedups_end(options, &set);
    return status;
}

/* ---- How many problems are solved, and how fast */

cnn_status plot_solved(const cli_options *options, const plot_to *to, cnn_error *err)
{
    solved_set set;
    cnn_status status = cli_solved(options, 1, SOLVED_CURVES_MAX, plot_says(to), &set, err);
    if (status == CNN_OK) status = plot_draw("solved.gp", to, "", solved_picture, &set, err);
    solved_free(&set);
    return status;
}

/* ---- Times of single operations */

static cnn_status draw_bars(const plot_to *to, bars_set *set, cnn_error *err)
{
    return bars_of_processes(set) ? plot_draw("processes.gp", to, "", bars_processes_picture, set, err)
                                  : plot_draw("bars.gp", to, "", bars_picture, set, err);
}

cnn_status plot_bars(const cli_options *options, const plot_to *to, cnn_error *err)
{
    static bars_set set; /* large: kept off the stack */
    cnn_status status = CNN_OK;
    set = (bars_set){.impl = options->impl, .dir = options->dir};
    for (int i = 1, bad; status == CNN_OK && i < options->words.count; i++) {
        status = bars_read(&set, options->words.items[i], &bad, err);
        if (status == CNN_OK && plot_says(to)) cli_say_bad_lines(options->words.items[i], bad);
    }
    if (status == CNN_OK) status = bars_make(&set, err);
    if (status == CNN_OK && set.left_out > 0 && plot_says(to))
        table_put(stderr, "benchcnn: drawing %s; %d figure%s of other machines left out\n", set.machine, set.left_out,
                  set.left_out == 1 ? "" : "s");
    if (status == CNN_OK) status = draw_bars(to, &set, err);
    set.plans = true;
    if (status == CNN_OK && !to->svg && bars_have_plans(&set))
        status = plot_draw("bars.gp", to, "_plans", bars_picture, &set, err);
    return status;
}

/* ---- Settings of an operation */

/* A line of each problem, or the map of problem number `only`; how many problems there are. */
static cnn_status draw_sweep(const cli_options *options, const plot_to *to, int only, int *maps, cnn_error *err)
{
    sweeps_set set = {.match = options->match, .only = only};
    cnn_status status = CNN_OK;
    for (int i = 1, bad; status == CNN_OK && i < options->words.count; i++) {
        status = sweeps_read(&set, options->words.items[i], &bad, err);
        if (status == CNN_OK && plot_says(to)) cli_say_bad_lines(options->words.items[i], bad);
    }
    if (status == CNN_OK) status = sweeps_make(&set, err);
    *maps = sweeps_is_map(&set) ? set.n_groups : 1;
    if (status == CNN_OK && set.left_out > 0 && plot_says(to))
        table_put(stderr, "benchcnn: drawing %s; %d point%s of other problems left out (--match chooses)\n",
                  set.groups[only].name, set.left_out, set.left_out == 1 ? "" : "s");
    if (status == CNN_OK)
        status = plot_draw(sweeps_is_map(&set) ? "sweep_map.gp" : "sweep_line.gp", to, "", sweeps_picture, &set, err);
    sweeps_free(&set);
    return status;
}

/* A page has the map of each problem; a picture of its own that of one. */
cnn_status plot_sweep(const cli_options *options, const plot_to *to, cnn_error *err)
{
    int maps = 1;
    cnn_status status = CNN_OK;
    for (int only = 0; only < maps && status == CNN_OK; only++) {
        status = draw_sweep(options, to, only, &maps, err);
        if (to->svg == NULL) return status;
    }
    return status;
}

/* ---- Roofline */

cnn_status plot_roofline(const cli_options *options, const plot_to *to, cnn_error *err)
{
    static roofline r; /* large: kept off the stack */
    char machine[2 * CNN_NAME_MAX];
    cnn_status status = CNN_OK;
    memset(&r, 0, sizeof r);
    for (int i = 1; status == CNN_OK && i < options->words.count; i++) {
        int bad = 0;
        status = roofline_read(&r, options->words.items[i], &bad, err);
        if (status == CNN_OK && plot_says(to)) cli_say_bad_lines(options->words.items[i], bad);
    }
    if (status == CNN_OK) status = roofline_make_roofs(&r, err);
    if (status == CNN_OK && r.left_out > 0 && plot_says(to))
        table_put(stderr, "benchcnn: drawing %s; %d figure%s of others left out\n",
                  roofline_machine(&r, machine, sizeof machine), r.left_out, r.left_out == 1 ? "" : "s");
    if (status == CNN_OK) status = plot_draw("roofline.gp", to, "", roofline_picture, &r, err);
    roofline_free(&r);
    return status;
}

/* ---- Layers and their floors */

cnn_status plot_floor(const cli_options *options, const plot_to *to, cnn_error *err)
{
    static floors_set set; /* large: kept off the stack */
    cnn_status status = CNN_OK;
    memset(&set, 0, sizeof set);
    for (int i = 1, bad; status == CNN_OK && i < options->words.count; i++) {
        status = floors_read(&set, options->words.items[i], &bad, err);
        if (status == CNN_OK && plot_says(to)) cli_say_bad_lines(options->words.items[i], bad);
    }
    if (status == CNN_OK) status = floors_make(&set, err);
    if (status == CNN_OK && set.left_out > 0 && plot_says(to))
        table_put(stderr, "benchcnn: drawing %s; %d pass%s of other networks, batches or machines left out\n", set.job,
                  set.left_out, set.left_out == 1 ? "" : "es");
    if (status == CNN_OK) status = plot_draw("floor.gp", to, "", floors_picture, &set, err);
    floors_free(&set);
    return status;
}

/* ---- Rounding errors */

cnn_status plot_errors(const cli_options *options, const plot_to *to, cnn_error *err)
{
    errors_set set = {.impl = options->impl};
    cnn_status status = CNN_OK;
    for (int i = 1, bad; status == CNN_OK && i < options->words.count; i++) {
        status = errors_read(&set, options->words.items[i], &bad, err);
        if (status == CNN_OK && plot_says(to)) cli_say_bad_lines(options->words.items[i], bad);
    }
    if (status == CNN_OK) status = errors_check(&set, err);
    if (status == CNN_OK) status = plot_draw("errors.gp", to, "", errors_picture, &set, err);
    errors_free(&set);
    return status;
}

/* ---- Mutants and checks */

cnn_status plot_kills(const cli_options *options, const plot_to *to, cnn_error *err)
{
    kills_set set = {.count = 0};
    cnn_status status = CNN_OK;
    for (int i = 1, bad; status == CNN_OK && i < options->words.count; i++) {
        status = kills_read(&set, options->words.items[i], &bad, err);
        if (status == CNN_OK && plot_says(to)) cli_say_bad_lines(options->words.items[i], bad);
    }
    if (status == CNN_OK) status = kills_make(&set, err);
    if (status == CNN_OK) status = plot_draw("kills.gp", to, "", kills_picture, &set, err);
    kills_free(&set);
    return status;
}
