/* cmd_compare.c: `benchcnn compare A.jsonl B.jsonl`: what changed from A to B, and what cannot be told. Of one file, A
 * and B are the values that one field has in it: `compare FILE --across impl`. */
#include "compare_parts.h"

#include "cli/table.h"
#include "compare.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "harness/record/identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "5%" or "0.05". A bare 5 would be 500 %, which nobody means. */
static cnn_status read_threshold(const char *text, double *threshold, cnn_error *err)
{
    char *end;
    const double number = strtod(text, &end);
    const bool percent = end != text && strcmp(end, "%") == 0, bare = end != text && *end == '\0';
    *threshold = percent ? number / 100 : number;
    if (bare && number >= 1)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--threshold is '%.64s', a bare number: write %.20s%% or %g", text, text,
                        number / 100);
    if ((percent || bare) && *threshold >= 0 && *threshold <= 10) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--threshold is '%.64s', but must be a share like 5%% or 0.05, up to 1000%%",
                    text);
}

/* What counts as the same, and what as a failure. */
static cnn_status read_judgement(compare_run *c, const cli_options *o, cnn_error *err)
{
    static const char *const names[] = {"faster", "slower", "same", "cannot-tell", "unmatched"};
    static const cnn_name_set outcomes = {"outcome of --fail-on", names, sizeof names / sizeof *names};
    const cnn_status status = read_threshold(o->threshold, &c->threshold, err);
    c->margin = cli_given(o, "threshold") ? c->threshold : COMPARE_MARGIN;
    if (status != CNN_OK || !o->fail_on) return status;
    c->fail_on = cnn_name_mask(&outcomes, o->fail_on, err);
    return c->fail_on != 0 ? CNN_OK : err->status;
}

static cnn_status read_options(compare_run *c, const cli_options *o, cnn_error *err)
{
    const bool one = o->words.count == 1;
    cnn_status status = cli_keep_apart(o->out, "A", o->words.items[0], err);
    if (status == CNN_OK && !one) status = cli_keep_apart(o->out, "B", o->words.items[1], err);
    if (status == CNN_OK && one && !o->across)
        status =
            CNN_FAIL(err, CNN_BAD_ARGUMENT,
                     "compare of one file needs to know what tells A from B in it: --across impl, algorithm, knobs, "
                     "threads, layout ...");
    if (status == CNN_OK && o->baseline && !one)
        status = CNN_FAIL(err, CNN_BAD_ARGUMENT, "--baseline is A of one file; of two files the first is A");
    if (status == CNN_OK && o->across) status = record_identity_fields(o->across, IDENTITY_FIGURE, err);
    /* two implementations have no algorithm in common */
    const bool with = record_listed(o->across, "impl") && !record_listed(o->across, "algorithm");
    snprintf(c->across, sizeof c->across, "%s%s", o->across ? o->across : "", with ? ",algorithm" : "");
    c->choice = (figure_choice){.across = o->across ? c->across : NULL, .match = o->match};
    return status == CNN_OK ? read_judgement(c, o, err) : status;
}

cnn_status args_compare(const cli_options *options, cnn_error *err)
{
    compare_run c = {.options = options};
    return read_options(&c, options, err);
}

static cnn_status compare_two(compare_run *c, const figure *a, const figure *b, comparison *r, cnn_error *err)
{
    r->pairs = 0;
    const cnn_status status = c->rates.count > 0 ? compare_processes(a, b, c->margin, &c->rates, r, err) : CNN_OK;
    c->fresh += r->pairs > 0;
    if (status != CNN_OK || r->pairs > 0) return status;
    compare_figures(a, b, c->matched * c->pairs, c->threshold, r);
    c->single += a->n_runs < COMPARE_RUNS || b->n_runs < COMPARE_RUNS;
    return CNN_OK;
}

static cnn_status compare_all(compare_run *c, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; i < c->sets[0].count; i++) c->matched += figures_find(&c->sets[1], c->sets[0].list[i].key) != NULL;
    for (int i = 0; status == CNN_OK && i < c->sets[0].count; i++) {
        const figure *a = &c->sets[0].list[i], *b = figures_find(&c->sets[1], a->key);
        comparison r;
        if (!b) continue;
        status = compare_two(c, a, b, &r, err);
        if (status != CNN_OK) return status;
        c->verdicts[r.verdict]++;
        if (!c->options->json) compare_print_figure(a, b, &r);
        status = record_write(c->sink, compare_record(a, b, &r, c->choice.across), err);
    }
    return status;
}

static int outcome(const compare_run *c)
{
    for (int v = 0; v < COMPARE_VERDICT_COUNT; v++)
        if (c->fail_on & 1u << v && c->verdicts[v] > 0) return EXIT_FAILED;
    if (c->fail_on & 1u << COMPARE_VERDICT_COUNT && c->unmatched > 0) return EXIT_FAILED;
    return c->matched > 0 ? EXIT_HELD : EXIT_NOTHING;
}

static cnn_status read_sides(compare_run *c, const char *const paths[2], cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; i < 2 && status == CNN_OK; i++) {
        figure_choice own = c->choice;
        if (paths[0] == paths[1]) own.only = c->names[i];
        status = figures_read(paths[i], &own, &c->sets[i], err);
    }
    return status;
}

static void free_sides(compare_run *c)
{
    figures_free(&c->sets[0]);
    figures_free(&c->sets[1]);
}

/* The figures of both sides, compared; what it comes to is kept where it is graver than what was before. */
static cnn_status compare_sides(compare_run *c, const char *const paths[2], int *worst, cnn_error *err)
{
    c->matched = c->unmatched = c->single = c->fresh = 0;
    memset(c->verdicts, 0, sizeof c->verdicts);
    cnn_status status = read_sides(c, paths, err);
    if (status == CNN_OK && !c->options->json)
        table_print(3, "A: %s\nB: %s\n%-11s  %7s  %-14s  A -> B\n", c->names[0], c->names[1], "B is", "B / A",
                    "interval");
    if (status == CNN_OK && paths[0] != paths[1]) compare_print_environments(c);
    if (status == CNN_OK) status = compare_all(c, err);
    if (status == CNN_OK) compare_print_unmatched(c);
    if (status == CNN_OK && c->matched == 0) compare_print_apart(c);
    if (status == CNN_OK) compare_print_outcome(c);
    const int result = outcome(c);
    if (*worst == EXIT_NOTHING || result == EXIT_FAILED) *worst = result;
    free_sides(c);
    return status;
}

/* Of fresh processes all comparisons that will be made, since each counts for the others. */
static cnn_status gather_rates(compare_run *c, const char *path, const figure_values *values, int first, cnn_error *err)
{
    const char *const paths[] = {path, path};
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < values->count; i++) {
        if (i == first) continue;
        c->names[0] = values->list[first];
        c->names[1] = values->list[i];
        status = read_sides(c, paths, err);
        if (status == CNN_OK) status = compare_gather(c->sets, c->margin, &c->rates, err);
        free_sides(c);
    }
    compare_correct(&c->rates);
    return status;
}

/* Each value that the fields have in the file against the first of them, or --baseline. */
static cnn_status compare_values(compare_run *c, int *worst, cnn_error *err)
{
    const char *path = c->options->words.items[0], *const paths[] = {path, path}, *wanted = c->options->baseline;
    figure_values values;
    int first = 0;
    char said[512] = "";
    cnn_status status = figures_values(path, &c->choice, &values, err);
    if (status != CNN_OK) return status;
    for (int i = 0; i < values.count; i++) cnn_append(said, sizeof said, "%s%s", i > 0 ? ", " : "", values.list[i]);
    while (wanted && first < values.count && strcmp(values.list[first], wanted) != 0) first++;
    if (first == values.count && values.count > 0)
        status =
            CNN_FAIL(err, CNN_BAD_ARGUMENT, "--baseline '%.64s' is none of %.200s: %.200s", wanted, c->across, said);
    else if (values.count < 2)
        status =
            CNN_FAIL(err, CNN_BAD_ARGUMENT, "%.200s has one value of %.64s, and no other to compare it with: %.200s",
                     path, c->across, said[0] ? said : "no figure");
    c->pairs = values.count - 1;
    if (status == CNN_OK) status = gather_rates(c, path, &values, first, err);
    for (int i = 0; status == CNN_OK && i < values.count; i++) {
        if (i == first) continue;
        c->names[0] = values.list[first];
        c->names[1] = values.list[i];
        status = compare_sides(c, paths, worst, err);
        if (status == CNN_OK && !c->options->json) putchar('\n');
    }
    figures_values_free(&values);
    free(c->rates.list);
    return status;
}

cnn_status cli_compare_check(const cli_options *options, cnn_error *err)
{
    compare_run c = {.options = options};
    return read_judgement(&c, options, err);
}

cnn_status cli_compare_files(const cli_options *options, const cli_compared *files, int *result, cnn_error *err)
{
    compare_run c = {.options = options, .pairs = 1, .names = {files->names[0], files->names[1]}, .sink = files->sink};
    const cnn_status status = read_judgement(&c, options, err);
    *result = EXIT_NOTHING;
    return status == CNN_OK ? compare_sides(&c, files->paths, result, err) : status;
}

int cmd_compare(const cli_options *options, cnn_error *err)
{
    compare_run c = {.options = options, .pairs = 1};
    cli_output output = {.sink = NULL};
    const char *const *words = options->words.items;
    int result = EXIT_NOTHING;
    cnn_status status = read_options(&c, options, err);
    if (status == CNN_OK) status = cli_output_open(options, true, &output, err);
    if (status == CNN_OK) status = cli_output_begin(options, &output, err);
    c.sink = output.sink;
    if (status == CNN_OK && options->words.count == 1) {
        status = compare_values(&c, &result, err);
    } else if (status == CNN_OK) {
        const char *const paths[] = {words[0], words[1]};
        if (cli_same_file(words[0], words[1]))
            table_put(stderr, "benchcnn: %s and %s are one file: it is compared with itself\n", words[0], words[1]);
        c.names[0] = words[0];
        c.names[1] = words[1];
        status = compare_sides(&c, paths, &result, err);
    }
    result = status == CNN_OK ? cli_output_end(&output, result) : cli_fail(err);
    cli_output_close(&output);
    return result;
}
