/* cmd_compare.c: `benchcnn compare A.jsonl B.jsonl`: what changed from A to B, and what cannot be told. */
#include "bench/figures/compare.h"
#include "cli/bench/parts.h"
#include "cli/output.h"
#include "cli/table.h"
#include "harness/record/identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct compare_run {
    const cli_options *options;
    double threshold;
    uint32_t fail_on; /* 1 << verdict; the bit beyond the last: unmatched figures */
    figure_set a, b;
    cli_output output;
    int matched, unmatched, single, verdicts[COMPARE_VERDICT_COUNT];
} compare_run;

/* "5%" or "0.05". A bare 5 would be 500 %, which nobody means. */
static cnn_status read_threshold(const char *text, double *threshold, cnn_error *err)
{
    char *end;
    *threshold = strtod(text, &end);
    const bool number = end != text, percent = number && strcmp(end, "%") == 0;
    if (percent) *threshold /= 100;
    if (number && *end == '\0' && *threshold >= 1)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--threshold is '%.64s', a bare number: write %.20s%% or %g", text, text,
                        *threshold / 100);
    if ((percent || (number && *end == '\0')) && *threshold >= 0 && *threshold <= 10) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--threshold is '%.64s', but must be a share like 5%% or 0.05, up to 1000%%",
                    text);
}

static cnn_status read_fail_on(const char *text, uint32_t *mask, cnn_error *err)
{
    static const char *const names[] = {"faster", "slower", "same", "cannot-tell", "unmatched"};
    char copy[128], *rest = copy;
    *mask = 0;
    if (text == NULL) return CNN_OK;
    snprintf(copy, sizeof copy, "%s", text);
    while (rest != NULL) {
        const char *word = strsep(&rest, ",");
        size_t i = 0;
        while (i < 5 && strcasecmp(word, names[i]) != 0) i++;
        if (i == 5)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                            "--fail-on: '%.64s' is none of faster, slower, same, cannot-tell, unmatched", word);
        *mask |= 1u << i;
    }
    return CNN_OK;
}

static cnn_status read_options(compare_run *c, const cli_options *o, cnn_error *err)
{
    if (o->words.count != 2)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "compare takes two files of records, not %d: benchcnn compare A.jsonl "
                        "B.jsonl",
                        o->words.count);
    const cli_file out = {"--out", o->out}, a = {"A", o->words.items[0]}, b = {"B", o->words.items[1]};
    cnn_status status = cli_keep_apart(&out, &a, err);
    if (status == CNN_OK) status = cli_keep_apart(&out, &b, err);
    if (status == CNN_OK && o->across) status = record_identity_fields(o->across, err);
    if (status == CNN_OK) status = read_threshold(o->threshold, &c->threshold, err);
    return status == CNN_OK ? read_fail_on(o->fail_on, &c->fail_on, err) : status;
}

cnn_status args_compare(const cli_options *options, cnn_error *err)
{
    compare_run c = {.options = options};
    return read_options(&c, options, err);
}

static cnn_status set_up(compare_run *c, cnn_error *err)
{
    const cli_options *o = c->options;
    cnn_error same;
    cnn_status status = read_options(c, o, err);
    if (status != CNN_OK) return status;
    const cli_file a = {"A", o->words.items[0]}, b = {"B", o->words.items[1]};
    if (cli_keep_apart(&a, &b, &same) != CNN_OK)
        table_put(stderr, "benchcnn: %s and %s are one file: it is compared with itself\n", a.path, b.path);
    status = figures_read(a.path, o->across, &c->a, err);
    if (status == CNN_OK) status = figures_read(b.path, o->across, &c->b, err);
    if (status == CNN_OK) status = cli_output_open(o, &c->output, err);
    if (status == CNN_OK) status = cli_output_begin(&c->output, err);
    return status;
}

static void print_environments(const compare_run *c)
{
    if ((c->a.n_facts == 0) != (c->b.n_facts == 0)) {
        table_put(stderr, "environments differ: %s says nothing of its\n", c->options->words.items[c->a.n_facts > 0]);
        return;
    }
    for (int i = 0; i < c->a.n_facts; i++) {
        const char *key = c->a.facts[i].key, *other = figures_fact(&c->b, key);
        if (!other || strcmp(other, c->a.facts[i].value) != 0)
            table_put(stderr, "environments differ: %s was %s, is %s\n", key, c->a.facts[i].value,
                      other ? other : "unknown");
    }
    for (int i = 0; i < c->b.n_facts; i++)
        if (!figures_fact(&c->a, c->b.facts[i].key))
            table_put(stderr, "environments differ: %s was unknown, is %s\n", c->b.facts[i].key, c->b.facts[i].value);
}

static cnn_status write_record(const compare_run *c, const figure *a, const figure *b, const comparison *r,
                               cnn_error *err)
{
    cnn_record *record = record_new("compare");
    record_text(record, "figure", a->key);
    if (c->options->across) {
        record_text(record, "a_figure", a->whole);
        record_text(record, "b_figure", b->whole);
    }
    record_text(record, "verdict", compare_verdict_name(r->verdict));
    record_real(record, "a_s", r->a);
    record_int(record, "a_runs", a->n_runs);
    record_real(record, "b_s", r->b);
    record_int(record, "b_runs", b->n_runs);
    record_real(record, "ratio", r->ratio);
    record_real(record, "ratio_low", r->low);
    record_real(record, "ratio_high", r->high);
    record_real(record, "margin", r->margin);
    return record_write(c->output.sink, record, err);
}

/* A key ("kind=conv impl=cpu algorithm=direct problem=...") as one says it: "conv cpu:direct ...". Others know no more
 * of it than that its words are FIELD=VALUE; what is not in the table stays so. */
static void readable(const char *key, char *text, size_t size)
{
    static const char any[] = "*";
    static const struct {
        const char *field, *before, *behind, *usual; /* usual: the value that goes without saying */
    } fields[] = {{"kind", "", "", NULL},          {"impl", " ", "", NULL},
                  {"algorithm", ":", "", NULL},    {"op", "", "", any},
                  {"problem", " ", "", NULL},      {"net", " ", "", NULL},
                  {"net_crc", "", "", any},        {"data", " on ", "", NULL},
                  {"dir", " ", "", NULL},          {"dtype", " ", "", NULL},
                  {"layout", " ", "", NULL},       {"math", " math ", "", "f32"},
                  {"batch", " batch ", "", NULL},  {"threads", " threads ", "", NULL},
                  {"cache", " ", " caches", "hot"}};
    enum { FIELDS = sizeof fields / sizeof *fields };
    size_t used = 0;
    text[0] = '\0';
    for (const char *at = key; *at != '\0' && used < size;) {
        const size_t length = strcspn(at, " "), name = strcspn(at, "= ");
        size_t f = 0;
        while (f < FIELDS && !(strlen(fields[f].field) == name && strncmp(at, fields[f].field, name) == 0)) f++;
        const char *value = f < FIELDS && name < length ? at + name + 1 : at,
                   *usual = f < FIELDS ? fields[f].usual : NULL;
        const size_t rest = length - (size_t)(value - at);
        const bool unsaid = usual && (usual == any || (strlen(usual) == rest && strncmp(usual, value, rest) == 0));
        if (!unsaid)
            used += (size_t)snprintf(text + used, size - used, "%s%.*s%s", f < FIELDS ? fields[f].before : " ",
                                     (int)rest, value, f < FIELDS ? fields[f].behind : "");
        at += length + (at[length] == ' ');
    }
}

/* A lone run says nothing of the next: its ratio has no interval. */
static void print_figure(const figure *a, const comparison *r)
{
    char name[4096], before[32], after[32], interval[64] = "[one run]";
    readable(a->key, name, sizeof name);
    bench_time_text(r->a, before, sizeof before);
    bench_time_text(r->b, after, sizeof after);
    if (isfinite(r->high)) snprintf(interval, sizeof interval, "[%.3f, %.3f]", r->low, r->high);
    table_print(13, "%-11s  %7.3f  %-14s  %s -> %s  %s\n", compare_verdict_name(r->verdict), r->ratio, interval, before,
                after, name);
}

static cnn_status compare_all(compare_run *c, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; i < c->a.count; i++) c->matched += figures_find(&c->b, c->a.list[i].key) != NULL;
    for (int i = 0; status == CNN_OK && i < c->a.count; i++) {
        const figure *a = &c->a.list[i], *b = figures_find(&c->b, a->key);
        comparison r;
        if (!b) continue;
        compare_figures(a, b, c->matched, c->threshold, &r);
        c->verdicts[r.verdict]++;
        c->single += a->n_runs < COMPARE_RUNS || b->n_runs < COMPARE_RUNS;
        if (!c->options->json) print_figure(a, &r);
        status = write_record(c, a, b, &r, err);
    }
    return status;
}

static void print_unmatched(compare_run *c)
{
    const figure_set *sets[2] = {&c->a, &c->b};
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < sets[s]->count; i++) {
            if (figures_find(sets[1 - s], sets[s]->list[i].key)) continue;
            table_put(stderr, "only in %s: %s\n", c->options->words.items[s], sets[s]->list[i].key);
            c->unmatched++;
        }
    for (int s = 0; s < 2; s++)
        if (sets[s]->bad > 0)
            table_put(stderr, "%s: %d line(s) are no records, passed over\n", c->options->words.items[s], sets[s]->bad);
    for (int s = 0; s < 2; s++)
        if (sets[s]->impossible > 0)
            table_put(stderr, "%s: %d time(s) are none (not above 0, or not finite), passed over\n",
                      c->options->words.items[s], sets[s]->impossible);
}

static int outcome(const compare_run *c)
{
    if (!c->options->json)
        table_print(
            4,
            "%d compared (ratios B/A, 95 %% for all together): %d faster, %d slower, %d same within %g %%, %d cannot "
            "be told; %d unmatched\n",
            c->matched, c->verdicts[COMPARE_FASTER], c->verdicts[COMPARE_SLOWER], c->verdicts[COMPARE_SAME],
            c->threshold * 100, c->verdicts[COMPARE_CANNOT_TELL], c->unmatched);
    if (c->single > 0)
        fprintf(stderr,
                "%d figures have fewer than %d runs on a side, and one run says little of the next: record more with "
                "bench --repeat 5, or the same command again\n",
                c->single, COMPARE_RUNS);
    for (int v = 0; v < COMPARE_VERDICT_COUNT; v++)
        if (c->fail_on & 1u << v && c->verdicts[v] > 0) return EXIT_FAILED;
    if (c->fail_on & 1u << COMPARE_VERDICT_COUNT && c->unmatched > 0) return EXIT_FAILED;
    return c->matched > 0 ? EXIT_HELD : EXIT_NOTHING;
}

int cmd_compare(const cli_options *options, cnn_error *err)
{
    compare_run c = {.options = options};
    cnn_status status = set_up(&c, err);
    if (status == CNN_OK) {
        print_environments(&c);
        status = compare_all(&c, err);
    }
    if (status == CNN_OK) print_unmatched(&c);
    const int result = status == CNN_OK ? cli_output_end(&c.output, outcome(&c)) : cli_fail(err);
    cli_output_close(&c.output);
    figures_free(&c.a);
    figures_free(&c.b);
    return result;
}
