/* cmd_plot.c: `benchcnn plot [curves|workers|ranks|goals|sweep|bars|speedup|roofline|floor|errors] FILE.jsonl...`:
 * which picture, of which files. What it shows is made in bench/figures. */
#include "bench/figures/bars.h"
#include "bench/figures/curves.h"
#include "bench/figures/errors.h"
#include "bench/figures/floors.h"
#include "bench/figures/goals.h"
#include "bench/figures/roofline.h"
#include "bench/figures/sweeps.h"
#include "bench/figures/workers.h"
#include "cli/table.h"
#include "draw.h"
#include "harness/problem/names.h"
#include "parts.h"
#include "scaling.h"

#include <string.h>
#include <unistd.h>

/* A picture for somebody who reads what is said beside it. */
static bool says(const plot_to *to) { return to->svg == NULL && to->stale == NULL; }

/* ---- Seconds per epoch */

static cnn_status read_epochs(const cli_options *options, int first, bool say, epoch_table *table, cnn_error *err)
{
    for (int i = first; i < options->words.count; i++) {
        int bad;
        const cnn_status status = epoch_table_read(table, options->words.items[i], &bad, err);
        if (status != CNN_OK) return status;
        if (say) cli_say_bad_lines(options->words.items[i], bad);
    }
    if (table->superseded > 0 && say)
        fprintf(stderr, "left out: %d epoch record%s of points that another build has measured since\n",
                table->superseded, table->superseded == 1 ? "" : "s");
    if (table->count > 0) return CNN_OK;
    return CNN_FAIL(
        err, CNN_BAD_ARGUMENT,
        "%s holds no epoch records: `benchcnn sweep batch --out FILE` writes them; of single operations there are "
        "`plot speedup` and `plot roofline`",
        options->words.count == first + 1 ? options->words.items[first] : "none of the files");
}

static void say_diverged(int epochs)
{
    if (epochs > 0)
        fprintf(stderr, "benchcnn: %d epoch%s left out: the training diverged, its loss is not finite\n", epochs,
                epochs == 1 ? " is" : "s are");
}

static void say_left_out(const series_set *set)
{
    const epoch_setting *s = &set->list[0].setting;
    if (set->left_out > 0)
        table_put(stderr, "benchcnn: drawing network %s with %lld + %lld images; %d record%s of others left out\n",
                  s->net, (long long)s->train_images, (long long)s->test_images, set->left_out,
                  set->left_out == 1 ? "" : "s");
    say_diverged(set->diverged);
}

static cnn_status plot_epochs(const cli_options *options, const plot_to *to, cnn_error *err)
{
    epoch_table table = {0};
    series_set set = {0};
    cnn_status status = read_epochs(options, 0, says(to), &table, err);
    if (status == CNN_OK) status = series_make(&table, &set, err);
    if (status == CNN_OK && says(to)) say_left_out(&set);
    if (status == CNN_OK) status = plot_crowd(to, set.count, err);
    if (status == CNN_OK) status = series_add_thesis(&set, err);
    if (status == CNN_OK) status = plot_draw("over_batch.gp", to, "", series_picture, &set, err);
    series_free(&set);
    epoch_table_free(&table);
    return status;
}

/* ---- Learning curves */

static cnn_status plot_curves(const cli_options *options, const plot_to *to, cnn_error *err)
{
    epoch_table table = {0};
    curves_set set = {.count = 0};
    cnn_status status = read_epochs(options, 1, says(to), &table, err);
    if (status == CNN_OK) status = curves_make(&table, &set, err);
    if (status == CNN_OK && says(to)) say_diverged(set.diverged);
    if (status == CNN_OK) status = plot_crowd(to, set.runs.count, err);
    if (status == CNN_OK) status = plot_draw("curves.gp", to, "", curves_picture, &set, err);
    curves_free(&set);
    epoch_table_free(&table);
    return status;
}

/* ---- Seconds to a loss */

static cnn_status plot_goals(const cli_options *options, const plot_to *to, cnn_error *err)
{
    goal_table goals = {.count = 0};
    epoch_table table = {.goals = &goals};
    goals_set set = {.count = 0};
    cnn_status status = CNN_OK;
    for (int i = 1, bad; i < options->words.count && status == CNN_OK; i++) {
        status = epoch_table_read(&table, options->words.items[i], &bad, err);
        if (status == CNN_OK && says(to)) cli_say_bad_lines(options->words.items[i], bad);
    }
    if (status == CNN_OK) status = goals_make(&goals, &set, err);
    if (status == CNN_OK && set.left_out > 0 && says(to))
        table_put(stderr, "benchcnn: of network %s alone; %d goal%s of others left out\n",
                  set.list[0].first->setting.net, set.left_out, set.left_out == 1 ? "" : "s");
    if (status == CNN_OK) status = goals_add_thesis(&set, err);
    if (status == CNN_OK && says(to)) show_goals(&set);
    if (status == CNN_OK) status = plot_draw("over_batch.gp", to, "", goals_picture, &set, err);
    goals_free(&set);
    goal_table_free(&goals);
    epoch_table_free(&table);
    return status;
}

/* ---- Speedup over threads or workers */

static cnn_status plot_workers(const cli_options *options, const plot_to *to, cnn_error *err)
{
    epoch_table table = {0};
    workers_set set = {.left_out = 0};
    cnn_status status = read_epochs(options, 1, says(to), &table, err);
    if (status == CNN_OK) status = workers_make(&table, &set, err);
    if (status == CNN_OK && set.left_out > 0 && says(to))
        table_put(stderr,
                  "benchcnn: %d curve%s left out: a speedup is over 1 thread or worker, and needs another number\n",
                  set.left_out, set.left_out == 1 ? " is" : "s are");
    if (status == CNN_OK) status = plot_crowd(to, set.curves.count, err);
    if (status == CNN_OK) status = workers_add_published(&set, err);
    if (status == CNN_OK) status = plot_draw("workers.gp", to, "", workers_picture, &set, err);
    workers_free(&set);
    epoch_table_free(&table);
    return status;
}

/* ---- Scaling over ranks */

static cnn_status plot_ranks(const cli_options *options, const plot_to *to, cnn_error *err)
{
    scaling_set set = {.count = 0};
    const bool say = says(to);
    cnn_status status = cli_scaling(&options->words.items[1], options->words.count - 1, say, &set, err);
    for (int i = 0; i < set.count && status == CNN_OK && say; i++)
        if (scaling_undrawn(&set.list[i]) > 0)
            table_put(stderr, "benchcnn: %s, %s: %d more than can be told apart of its batches: in the table alone\n",
                      set.list[i].setting.net, set.list[i].label, scaling_undrawn(&set.list[i]));
    if (status == CNN_OK && say) status = cli_show_scaling(&set, err);
    if (status == CNN_OK) status = plot_draw("ranks.gp", to, "", scaling_picture, &set, err);
    scaling_free(&set);
    return status;
}

/* ---- Speedups */

static cnn_status plot_speedup(const cli_options *options, const plot_to *to, cnn_error *err)
{
    speedup_set set = {.count = 0};
    cnn_status status = cli_speedups(options, 1, says(to), &set, err);
    const bool epochs = speedup_has(&set, true), operations = speedup_has(&set, false);
    if (status == CNN_OK && epochs) status = plot_draw("over_batch.gp", to, "", speedup_curves, &set, err);
    if (status == CNN_OK && operations)
        status = plot_draw("speedup_problems.gp", to, epochs ? "_problems" : "", speedup_bars, &set, err);
    cli_speedups_end(options, &set);
    return status;
}

/* ---- Times of single operations */

static cnn_status plot_bars(const cli_options *options, const plot_to *to, cnn_error *err)
{
    static bars_set set; /* large: kept off the stack */
    cnn_status status = CNN_OK;
    set = (bars_set){.impl = options->impl, .dir = options->dir};
    for (int i = 1, bad; status == CNN_OK && i < options->words.count; i++) {
        status = bars_read(&set, options->words.items[i], &bad, err);
        if (status == CNN_OK && says(to)) cli_say_bad_lines(options->words.items[i], bad);
    }
    if (status == CNN_OK) status = bars_make(&set, err);
    if (status == CNN_OK && set.left_out > 0 && says(to))
        table_put(stderr, "benchcnn: drawing %s; %d figure%s of other machines left out\n", set.machine, set.left_out,
                  set.left_out == 1 ? "" : "s");
    if (status == CNN_OK) status = plot_draw("bars.gp", to, "", bars_picture, &set, err);
    set.plans = true;
    if (status == CNN_OK && !to->svg && bars_have_plans(&set))
        status = plot_draw("bars.gp", to, "_plans", bars_picture, &set, err);
    return status;
}

/* ---- Settings of an operation */

static cnn_status plot_sweep(const cli_options *options, const plot_to *to, cnn_error *err)
{
    sweeps_set set = {.match = options->match};
    cnn_status status = CNN_OK;
    for (int i = 1, bad; status == CNN_OK && i < options->words.count; i++) {
        status = sweeps_read(&set, options->words.items[i], &bad, err);
        if (status == CNN_OK && says(to)) cli_say_bad_lines(options->words.items[i], bad);
    }
    if (status == CNN_OK) status = sweeps_make(&set, err);
    if (status == CNN_OK && set.left_out > 0 && says(to))
        table_put(stderr, "benchcnn: drawing %s; %d point%s of other problems left out (--match chooses)\n",
                  set.groups[0].name, set.left_out, set.left_out == 1 ? "" : "s");
    if (status == CNN_OK)
        status = plot_draw(sweeps_is_map(&set) ? "sweep_map.gp" : "sweep_line.gp", to, "", sweeps_picture, &set, err);
    sweeps_free(&set);
    return status;
}

/* ---- Roofline */

static cnn_status plot_roofline(const cli_options *options, const plot_to *to, cnn_error *err)
{
    static roofline r; /* large: kept off the stack */
    char machine[2 * CNN_NAME_MAX];
    cnn_status status = CNN_OK;
    memset(&r, 0, sizeof r);
    for (int i = 1; status == CNN_OK && i < options->words.count; i++) {
        int bad = 0;
        status = roofline_read(&r, options->words.items[i], &bad, err);
        if (status == CNN_OK && says(to)) cli_say_bad_lines(options->words.items[i], bad);
    }
    if (status == CNN_OK) status = roofline_make_roofs(&r, err);
    if (status == CNN_OK && r.left_out > 0 && says(to))
        table_put(stderr, "benchcnn: drawing %s; %d figure%s of others left out\n",
                  roofline_machine(&r, machine, sizeof machine), r.left_out, r.left_out == 1 ? "" : "s");
    if (status == CNN_OK) status = plot_draw("roofline.gp", to, "", roofline_picture, &r, err);
    roofline_free(&r);
    return status;
}

/* ---- Layers and their floors */

static cnn_status plot_floor(const cli_options *options, const plot_to *to, cnn_error *err)
{
    static floors_set set; /* large: kept off the stack */
    cnn_status status = CNN_OK;
    memset(&set, 0, sizeof set);
    for (int i = 1, bad; status == CNN_OK && i < options->words.count; i++) {
        status = floors_read(&set, options->words.items[i], &bad, err);
        if (status == CNN_OK && says(to)) cli_say_bad_lines(options->words.items[i], bad);
    }
    if (status == CNN_OK) status = floors_make(&set, err);
    if (status == CNN_OK && set.left_out > 0 && says(to))
        table_put(stderr, "benchcnn: drawing %s; %d pass%s of other networks, batches or machines left out\n", set.job,
                  set.left_out, set.left_out == 1 ? "" : "es");
    if (status == CNN_OK) status = plot_draw("floor.gp", to, "", floors_picture, &set, err);
    floors_free(&set);
    return status;
}

/* ---- Rounding errors */

static cnn_status plot_errors(const cli_options *options, const plot_to *to, cnn_error *err)
{
    errors_set set = {.impl = options->impl};
    cnn_status status = CNN_OK;
    for (int i = 1, bad; status == CNN_OK && i < options->words.count; i++) {
        status = errors_read(&set, options->words.items[i], &bad, err);
        if (status == CNN_OK && says(to)) cli_say_bad_lines(options->words.items[i], bad);
    }
    if (status == CNN_OK) status = errors_check(&set, err);
    if (status == CNN_OK) status = plot_draw("errors.gp", to, "", errors_picture, &set, err);
    errors_free(&set);
    return status;
}

/* ---- The command */

typedef cnn_status plot_kind(const cli_options *options, const plot_to *to, cnn_error *err);
enum { KINDS = 10 };
static const char *const kinds[KINDS] = {"curves", "workers", "ranks",    "goals", "sweep",
                                         "bars",   "speedup", "roofline", "floor", "errors"};
static plot_kind *const plots[KINDS] = {plot_curves, plot_workers, plot_ranks,    plot_goals, plot_sweep,
                                        plot_bars,   plot_speedup, plot_roofline, plot_floor, plot_errors};

/* NULL: the word is a file, of epochs. */
static plot_kind *kind_of(const char *word)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(word, kinds[i]) == 0) return plots[i];
    return NULL;
}

cnn_status cli_plot_svg(const cli_options *options, int most, FILE *svg, cnn_error *err)
{
    const plot_to to = {.svg = svg, .most = most};
    plot_kind *draw_kind = kind_of(options->words.items[0]);
    return (draw_kind ? draw_kind : plot_epochs)(options, &to, err);
}

cnn_status args_plot(const cli_options *options, cnn_error *err)
{
    const char *word = options->words.items[0];
    const bool named = kind_of(word) != NULL;
    if (named && options->words.count == 1)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "plot %s needs record files: benchcnn plot %s FILE.jsonl... [--out NAME]", word, word);
    if (options->baseline && kind_of(word) != plot_speedup)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--baseline goes with plot speedup, and means nothing without it");
    if (options->impl && kind_of(word) != plot_speedup && kind_of(word) != plot_bars && kind_of(word) != plot_errors)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--impl goes with plot speedup, plot bars and plot errors, and means nothing without");
    if (options->match && kind_of(word) != plot_sweep)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--match goes with plot sweep, and means nothing without it");
    if (options->dir && kind_of(word) != plot_bars)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--dir goes with plot bars, and means nothing without it");
    const char *nearest = named || access(word, F_OK) == 0 ? NULL : cnn_nearest_name(word, kinds, KINDS);
    if (!nearest) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "'%.64s' is no file, and no kind of plot; did you mean '%s'?", word,
                    nearest);
}

/* Without a kind: what the files hold is drawn, the first kind that there is, and the others are named. Files that hold
 * nothing are told as files without epochs. */
static cnn_status plot_what_is_there(const cli_options *options, const plot_to *to, cnn_error *err)
{
    static cli_options own; /* large: kept off the stack */
    const char *held[PLOT_KINDS_MAX];
    int count;
    cnn_status status = cli_plot_kinds(options, held, &count, err);
    if (status != CNN_OK) return status;
    own = *options;
    if (count == 0 || held[0][0] == '\0' || options->words.count == CLI_LIST_MAX) {
        status = plot_epochs(options, to, err);
    } else {
        memmove(&own.words.items[1], &own.words.items[0], (size_t)own.words.count * sizeof *own.words.items);
        own.words.items[0] = held[0];
        own.words.count++;
        status = kind_of(held[0])(&own, to, err);
    }
    for (int i = 1; status == CNN_OK && says(to) && !options->quiet && i < count; i++)
        fprintf(stderr, "%s plot %s%s", i == 1 ? "beside this:" : ",", held[i], i == count - 1 ? "\n" : "");
    return status;
}

int cmd_plot(const cli_options *options, cnn_error *err)
{
    bool stale = false;
    plot_to to = {.stale = options->dry_run ? &stale : NULL};
    plot_kind *draw_kind = kind_of(options->words.items[0]);
    plot_name(options, options->words.items[draw_kind ? 1 : 0], to.name);
    const cnn_status status = (draw_kind ? draw_kind : plot_what_is_there)(options, &to, err);
    return status != CNN_OK ? cli_fail(err) : stale ? EXIT_FAILED : EXIT_HELD;
}
