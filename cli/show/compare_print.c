/* compare_print.c: what `compare` prints: a line a figure, what differs, what it comes to. */
#include "bench/measure/clocks.h"
#include "bench/measure/stats.h"
#include "cli/table.h"
#include "compare_parts.h"
#include "harness/base/text.h"
#include "harness/record/identity.h"

#include <math.h>
#include <string.h>

void compare_print_environments(const compare_run *c)
{
    const figure_set *a = &c->sets[0], *b = &c->sets[1];
    if ((a->n_facts == 0) != (b->n_facts == 0)) {
        table_put(stderr, "environments differ: %s says nothing of its\n", c->names[a->n_facts > 0]);
        return;
    }
    figure_difference d;
    for (int i = 0; figures_differ(a, b, i, &d); i++)
        table_put(stderr, "environments differ: %s was %s, is %s\n", d.key, d.was ? d.was : "unknown",
                  d.is ? d.is : "unknown");
}

/* A host moved the processors of one side: its times are of another machine, as it were. */
static void say_handovers(const figure *a, const figure *b, char *text, size_t size)
{
    const double near = a->near < b->near ? a->near : b->near, far = a->far > b->far ? a->far : b->far;
    if (!clock_moved(near, far)) return;
    cnn_append(text, size, "; processors were %.0f to %.0f ns apart in A, %.0f to %.0f in B: not the same conditions",
               1e9 * a->near, 1e9 * a->far, 1e9 * b->near, 1e9 * b->far);
}

enum { FAR_TOLD = 8 }; /* rounds: of fewer it says little that one is far out */

void compare_print_figure(const figure *a, const figure *b, const comparison *r)
{
    char name[4096], before[32], after[32], interval[64] = "", reason[64], control[224] = "";
    compare_name(a, b, name, sizeof name);
    bench_time_text(r->a, before, sizeof before);
    bench_time_text(r->b, after, sizeof after);
    compare_reason(a, b, r, reason, sizeof reason);
    if (isfinite(r->high)) snprintf(interval, sizeof interval, "[%.3f, %.3f]", r->low, r->high);
    if (r->pairs > 0 && !isnan(r->itself)) snprintf(control, sizeof control, "; A/A %.3f", r->itself);
    if (r->far_slower + r->far_faster > 0 && r->pairs >= FAR_TOLD)
        cnn_append(control, sizeof control, "; %d of %d rounds far out, %d of them slower",
                   r->far_slower + r->far_faster, r->pairs, r->far_slower);
    say_handovers(a, b, control, sizeof control);
    table_print(13, "%-11s  %7.3f  %-14s  %s -> %s  %s%s%s%s\n", compare_verdict_name(r->verdict), r->ratio, interval,
                before, after, name, control, reason[0] ? "; " : "", reason);
}

void compare_print_unmatched(compare_run *c)
{
    const figure_set *sets = c->sets;
    for (int s = 0; s < 2; s++) {
        const char *path = c->names[s];
        for (int i = 0; i < sets[s].count; i++) {
            if (figures_find(&sets[1 - s], sets[s].list[i].key)) continue;
            table_put(stderr, "only in %s (%c): %s\n", path, "AB"[s], sets[s].list[i].key);
            c->unmatched++;
        }
        cli_say_bad_lines(path, sets[s].bad);
        if (sets[s].impossible > 0)
            table_put(stderr, "benchcnn: %s: %d time(s) are none (not above 0, or not finite), passed over\n", path,
                      sets[s].impossible);
    }
}

/* Nothing is in both files: which fields have no value in common, and what to ask for to compare all the same. */
void compare_print_apart(const compare_run *c)
{
    char said[1024] = "", across[256] = "";
    const char *name;
    const bool same_kind = figures_share(&c->sets[0], &c->sets[1], 0); /* a convolution is compared with no epoch */
    if (c->sets[0].count == 0 || c->sets[1].count == 0) return;
    for (int i = 0; (name = record_identity_name(i)) != NULL; i++) {
        int la, lb;
        if (figures_share(&c->sets[0], &c->sets[1], i)) continue;
        const char *of_a = record_identity_value(c->sets[0].list[0].whole, i, &la);
        const char *of_b = record_identity_value(c->sets[1].list[0].whole, i, &lb);
        cnn_append(said, sizeof said, "%s%s (A: %.*s, B: %.*s)", said[0] ? ", " : "", name, la ? la : 4,
                   la ? of_a : "none", lb ? lb : 4, lb ? of_b : "none");
        cnn_append(across, sizeof across, "%s%s", across[0] ? "," : "", name);
    }
    if (said[0] == '\0') snprintf(said, sizeof said, "more than one field at a time");
    table_put(stderr, "benchcnn: no figure is in both files: they differ in %s%s%s\n", said,
              across[0] && same_kind ? "; to compare across that, add --across " : "", same_kind ? across : "");
}

static bool of_kind(const compare_run *c, const char *kind)
{
    const size_t length = strlen(kind);
    const char *whole = c->sets[0].count > 0 ? c->sets[0].list[0].whole : "";
    return strncmp(whole, kind, length) == 0 && (whole[length] == ' ' || whole[length] == '\0');
}

static const char *how_to_get_more(const compare_run *c)
{
    if (of_kind(c, "kind=epoch"))
        return "a run is one `train`: train into further files, and join them: cat 1.jsonl 2.jsonl 3.jsonl >A.jsonl";
    if (of_kind(c, "kind=process")) return "let hyperfine start each command more often (--runs)";
    if (of_kind(c, "kind=benchmark")) return "import a file of each of several runs of the program";
    return "record more with bench --repeat 5, or the same command again";
}

/* How the intervals are meant, and what was done about the number of comparisons. */
static const char *how_compared(const compare_run *c, char *text, size_t size)
{
    if (c->fresh == 0) return "ratios B/A, 95 % for all together";
    snprintf(text, size,
             "%sratios B/A of fresh processes, round by round; intervals of 95 %% for each alone; of the differences "
             "found among all %d comparisons at most %g %% are none, by Benjamini and Hochberg",
             c->fresh < c->matched ? "where there are several rounds, " : "", c->rates.count,
             100 * COMPARE_FALSE_DISCOVERIES);
    return text;
}

void compare_print_outcome(const compare_run *c)
{
    char how[256];
    if (!c->options->json)
        table_print(4,
                    "%d compared (%s): %d faster, %d slower, %d same within %g %%, %d cannot "
                    "be told; %d unmatched\n",
                    c->matched, how_compared(c, how, sizeof how), c->verdicts[COMPARE_FASTER],
                    c->verdicts[COMPARE_SLOWER], c->verdicts[COMPARE_SAME],
                    (c->fresh > 0 ? c->margin : c->threshold) * 100, c->verdicts[COMPARE_CANNOT_TELL], c->unmatched);
    if (c->single > 0)
        fprintf(stderr, "%d figure%s fewer than %d runs on a side, and one run says little of the next: %s\n",
                c->single, c->single == 1 ? " has" : "s have", COMPARE_RUNS, how_to_get_more(c));
    if (c->verdicts[COMPARE_CANNOT_TELL] > c->single)
        fprintf(stderr, "where runs differ too much to tell: end other work, take more %s, or time one --problem\n",
                of_kind(c, "kind=epoch") ? "epochs" : "turns");
}
