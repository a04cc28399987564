/* cmd_sweep.c: `benchcnn sweep`: any product of threads, algorithm, layout, dtype and knobs times single operations,
 * each point verified (`sweep batch` trains: cli/train). Points that --out already holds are not run again, so the same
 * command goes on where a killed one stopped. */
#include "cli/table.h"
#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double default_warm_up = 0.02;

/* ---- One group ---- */

/* What an interrupted group has measured is shown, too; a problem that is too large is no reason to end the sweep. */
static cnn_status run_group(sweep *s, sweep_group *g, cnn_error *err)
{
    cnn_error ignored;
    cnn_status status = sweep_make_points(s, g, err);
    if (status == CNN_OK && g->count > 0) {
        status = sweep_rounds(s, g, err);
        cli_progress_end(&s->b.progress);
        const bool large = status == CNN_OUT_OF_MEMORY || status == CNN_OVERFLOW;
        if (large) table_put(stderr, "REFUSED %s: %s\n", cnn_dir_name(g->dir), err->message);
        s->refused += large;
        if (large || status == CNN_OK) status = sweep_conclude(s, g, false, err);
        if (status == CNN_INTERRUPTED) (void)sweep_conclude(s, g, true, &ignored);
    }
    for (int t = 0; t < SWEEP_TYPES; t++)
        if (g->has_case[t]) vf_case_free(&g->cases[t]);
    free(g->points);
    return status;
}

/* ---- All ---- */

/* With --isolate, what ends the process ends this group alone. */
static cnn_status begin_group(sweep *s, sweep_group *g, cnn_error *err)
{
    bool mine;
    char text[CNN_PROBLEM_TEXT_MAX], doing[WATCH_DOING_MAX];
    cnn_problem_format(&g->problem, text);
    snprintf(doing, sizeof doing, "sweeping %s %.64s", cnn_dir_name(g->dir), text);
    cnn_status status = cli_begin_piece(s->b.options, s->b.number++, s->b.sessions.list[g->session].impl->name, doing,
                                        s->b.output.sink, &mine, err);
    if (status != CNN_OK || !mine) return status;
    status = run_group(s, g, err);
    cli_end_piece(s->b.options);
    return status;
}

/* The limit of time is a turn's. */
static void go_on(void *watch, const candidate *c)
{
    (void)c;
    watch_tick(watch);
}

static cnn_status run_all(sweep *s, cnn_error *err)
{
    s->b.params.in_hand = go_on;
    s->b.params.in_hand_user = s->b.options->watch;
    cli_progress_start(&s->b.progress, "sweep", s->b.options->quiet);
    for (int p = 0; p < s->b.problems.count; p++)
        for (int dir = 0; dir < CNN_DIR_COUNT; dir++)
            for (int i = 0; i < s->b.sessions.count; i++) {
                const problem_entry *e = &s->b.problems.items[p];
                sweep_group group = {.session = i, .entry = e, .problem = e->problem, .dir = (cnn_dir)dir};
                if (!(cli_dirs_of(e, NULL, s->b.dirs) & 1u << dir) || !bench_next_place(&s->b)) continue;
                if (begin_group(s, &group, err) != CNN_OK) return err->status;
            }
    return CNN_OK;
}

/* Several values and an axis go together. */
static cnn_status check_axis(const char *axis, bool swept, bool several, const char *values, cnn_error *err)
{
    if (swept == several) return CNN_OK;
    if (several)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s %.64s: then %s must be among what is swept", axis, values, axis);
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "sweep %s --%s %.32s leaves nothing to sweep: give more than one, or none",
                    axis, axis, values);
}

/* An axis takes all of its values, unless a list of them is given. */
static cnn_status read_types(sweep *s, cnn_error *err)
{
    cli_options o = *s->b.options;
    if (s->axes.dtype && !cli_given(&o, "dtype")) o.dtype = "all";
    if (s->axes.layout && !cli_given(&o, "layout")) o.layout = "all";
    if (cli_types(&o, &s->b.types, err) != CNN_OK) return err->status;
    const cnn_type *first = s->b.types.types, *last = &first[s->b.types.count - 1];
    const cnn_status status = check_axis("dtype", s->axes.dtype, first->dtype != last->dtype, o.dtype, err);
    if (status != CNN_OK) return status;
    return check_axis("layout", s->axes.layout, first->layout != last->layout, o.layout, err);
}

static cnn_status read_options(sweep *s, cnn_error *err)
{
    cnn_status status = sweep_read_axes(s->b.options, &s->axes, err);
    if (status == CNN_OK) status = bench_read_params(&s->b, default_warm_up, false, err);
    if (status == CNN_OK) status = read_types(s, err);
    return status == CNN_OK ? bench_gather_problems(&s->b, err) : status;
}

static cnn_status set_up(sweep *s, cnn_error *err)
{
    bench *b = &s->b;
    const cli_options *o = b->options;
    int bad = 0;
    cnn_status status = read_options(s, err);
    if (status == CNN_OK) status = cli_sink_open(o, &b->output.sink, err);
    if (status == CNN_OK) cli_shard_mark(o, b->output.sink);
    if (status == CNN_OK) status = cli_report_lost(o, b->output.sink, &o->watch->failed, err);
    if (status == CNN_OK) status = sweep_rows_read(&s->rows, o->out, &bad, err);
    if (status == CNN_OK) cli_say_bad_lines(o->out, bad);
    cnn_build_id(o->plugin.items, o->plugin.count, s->rows.build);
    if (status == CNN_OK) status = bench_open(b, true, err);
    for (int i = 0; status == CNN_OK && i < b->sessions.count; i++)
        cnn_libraries_id(&b->sessions.list[i], s->libraries[i]);
    if (status == CNN_OK && o->tune) status = cli_sink_share(o, o->tune, &s->tune, err);
    return status;
}

static void tear_down(sweep *s)
{
    bench_close_sessions(&s->b);
    bench_close(&s->b);
    record_sink_close(s->tune);
    sweep_rows_free(&s->rows);
}

static void print_summary(const sweep *s)
{
    const long long crashed = (long long)s->b.options->watch->failed;
    char text[1024] = "";
    const size_t size = sizeof text;
    table_legend(s->b.marks);
    cnn_append(text, size, "%d points run in %.1f s; ", s->ran, cnn_now() - s->start);
    cnn_append(text, size, "%d could not run, %d wrong", s->refused, s->wrong);
    if (crashed > 0) cnn_append(text, size, ", %lld ended by a crash or a hang", crashed);
    if (s->kept > 0) cnn_append(text, size, "; %d already in %s", s->kept, s->b.options->out);
    if (s->again > 0) cnn_append(text, size, "; %d of them again, for another build had measured them", s->again);
    table_print(4, "%s\n", text);
}

/* --tune that wrote nothing is told, and why. */
static void say_not_tuned(const sweep *s)
{
    if (!s->tune || s->chosen > 0) return;
    table_put(stderr, "--tune %s: nothing new was kept: %s\n", s->b.options->tune,
              s->held > 0 ? "it holds these choices already" : "no point could be timed");
}

int cmd_sweep(const cli_options *options, cnn_error *err)
{
    sweep s = {.b.options = options,
               .b.sums = (bench_sums *)options->watch->kept,
               .b.silent = options->watch->n_deaths > 0, /* told by the run before */
               .start = cnn_now()};
    for (int i = 0; i < options->words.count; i++)
        cnn_append(s.axes_text, sizeof s.axes_text, "%s%s", i > 0 ? " " : "", options->words.items[i]);
    cnn_status status = set_up(&s, err);
    if (status == CNN_OK && s.b.begun) status = run_all(&s, err);
    cli_progress_end(&s.b.progress);
    if ((status == CNN_OK || status == CNN_INTERRUPTED) && !options->json) print_summary(&s);
    if (status == CNN_OK) say_not_tuned(&s);
    if (status == CNN_INTERRUPTED) CNN_FAIL(err, CNN_INTERRUPTED, "interrupted; the same command goes on from here");
    int result = status != CNN_OK                               ? cli_fail(err)
                 : s.wrong > 0 || options->watch->failed > 0    ? EXIT_FAILED
                 : s.ran + s.kept > 0                           ? EXIT_HELD
                 : cli_shard_empty(options, s.b.own, s.b.place) ? EXIT_HELD
                                                                : EXIT_NOTHING;
    if (status == CNN_OK && s.b.refusal.status != CNN_OK) result = cli_fail(&s.b.refusal);
    tear_down(&s);
    return result;
}

cnn_status args_sweep(const cli_options *options, cnn_error *err)
{
    sweep s = {.b.options = options, .b.silent = true};
    const cnn_status status = read_options(&s, err);
    tear_down(&s);
    return status;
}
