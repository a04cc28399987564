/* solved_count.c: what a candidate's answers come to, to all problems or to those of a group. */
#include "bench/measure/stats.h"
#include "harness/base/text.h"
#include "solved.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Groups */

/* The mb of "g2mb32ic3..."; 1 where it has none. A problem's name, behind n, is text. */
static int batch_of(const char *problem)
{
    const char *at = problem;
    while (*at != '\0' && strncmp(at, "mb", 2) != 0 && strncmp(at, "n\"", 2) != 0) at++;
    return strncmp(at, "mb", 2) == 0 ? atoi(at + 2) : 1;
}

/* A value as people write it, without quotes; "" without one. */
static bool add_value(FILE *to, const cnn_record *record, const char *field)
{
    char *value = record_json(record, field);
    const char *text = record_get_text(record, field);
    const char *problem = record_get_text(record, "problem");
    if (!value && strcmp(field, "batch") == 0 && problem)
        fprintf(to, "%d\n", batch_of(problem));
    else
        fprintf(to, "%s\n", text ? text : value ? value : "");
    free(value);
    return ferror(to) == 0;
}

/* The next name of "dir,math"; *list goes behind it. */
static bool next_field(const char **list, char field[CNN_NAME_MAX])
{
    const int length = *list ? (int)strcspn(*list, ",") : 0;
    if (length == 0) return false;
    snprintf(field, CNN_NAME_MAX, "%.*s", length, *list);
    *list += length + ((*list)[length] == ',');
    return true;
}

int solved_group_of(solved_set *set, const cnn_record *record, cnn_error *err)
{
    char field[CNN_NAME_MAX], *values = NULL;
    const char *list = set->request.by;
    size_t size;
    bool fresh, whole = true;
    FILE *to = open_memstream(&values, &size);
    while (to && next_field(&list, field)) whole = whole && add_value(to, record, field);
    if (!to || fclose(to) != 0 || !whole) {
        free(values);
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a group of problems"), -1;
    }
    const int number = figure_name(&set->groups, values, &fresh, err);
    free(values);
    return number;
}

/* ---- Counting */

static bool is_in(const solved_set *set, int problem, int group)
{
    return group == SOLVED_ALL || set->asked[problem].group == group;
}

bool solved_has(const solved_set *set, int group)
{
    for (int p = 0; p < set->n_problems; p++)
        if (is_in(set, p, group)) return true;
    return false;
}

static void count_one(const solved_set *set, const solved_answer *a, int problem, solved_count *n)
{
    n->problems++;
    n->right += a->state == SOLVED_RIGHT;
    n->wrong += a->state == SOLVED_WRONG;
    n->refused += a->state == SOLVED_REFUSED;
    n->not_asked += a->state == SOLVED_NOT_ASKED;
    if (a->state != SOLVED_RIGHT) return;
    n->fastest += a->fastest;
    n->sure += a->sure;
    if (!(set->request.baseline ? a->ratio >= n->worst : a->ratio <= n->worst)) /* or none yet: NaN */
        n->worst = a->ratio, n->worst_problem = problem;
}

cnn_status solved_count_answers(const solved_set *set, int candidate, int group, solved_count *count, cnn_error *err)
{
    double *ratios = malloc((size_t)set->n_problems * sizeof *ratios + 1), logs = 0.0;
    *count = (solved_count){.mean = NAN, .median = NAN, .worst = NAN, .worst_problem = -1};
    if (!ratios) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d ratios", set->n_problems);
    for (int p = 0; p < set->n_problems; p++) {
        const solved_answer *a = solved_at(set, candidate, p);
        if (!is_in(set, p, group)) continue;
        count_one(set, a, p, count);
        if (a->state != SOLVED_RIGHT) continue;
        ratios[count->right - 1] = a->ratio;
        logs += log(a->ratio);
    }
    if (count->right > 0) {
        count->mean = exp(logs / count->right);
        count->median = bench_median(ratios, count->right);
    }
    free(ratios);
    return CNN_OK;
}

static double share_of(const solved_set *set, int candidate, int group, double factor)
{
    int count = 0, problems = 0;
    for (int p = 0; p < set->n_problems; p++) {
        const double ratio = solved_at(set, candidate, p)->ratio; /* NaN: neither */
        if (!is_in(set, p, group)) continue;
        problems++;
        count += set->request.baseline ? ratio >= factor : ratio <= factor;
    }
    return (double)count / problems;
}

double solved_share(const solved_set *set, int candidate, double factor)
{
    return share_of(set, candidate, SOLVED_ALL, factor);
}

/* ---- Tables */

static void record_group(cnn_record *record, const solved_set *set, int group)
{
    char field[CNN_NAME_MAX];
    const char *list = set->request.by, *value = group == SOLVED_ALL ? NULL : set->groups.texts[group];
    while (next_field(&list, field)) {
        char text[SOLVED_LABEL_MAX];
        const int length = value ? (int)strcspn(value, "\n") : 0;
        snprintf(text, sizeof text, "%.*s", length, value ? value : "");
        record_text(record, field, value ? text : "all");
        if (value) value += length + 1;
    }
}

static void record_shares(cnn_record *record, const solved_set *set, int candidate, int group, const solved_count *n)
{
    const bool over = set->request.baseline != NULL;
    record_real(record, "fastest", (double)n->fastest / n->problems);
    if (over) record_text(record, "baseline", set->baseline);
    if (over) record_real(record, "fast_1_sure", (double)n->sure / n->problems);
    record_real(record, over ? "fast_1" : "within_1_1", share_of(set, candidate, group, over ? 1.0 : 1.1));
    record_real(record, over ? "fast_1_5" : "within_1_5", share_of(set, candidate, group, 1.5));
    record_real(record, over ? "fast_2" : "within_2", share_of(set, candidate, group, 2.0));
    record_real(record, over ? "speedup" : "slowdown", n->mean);
    record_real(record, over ? "median_speedup" : "median_slowdown", n->median);
    record_real(record, over ? "least_speedup" : "most_slowdown", n->worst);
    if (n->worst_problem >= 0) record_text(record, "worst_at", set->asked[n->worst_problem].name);
}

cnn_record *solved_record(const solved_set *set, int candidate, int group)
{
    const solved_candidate *c = &set->candidates[candidate];
    cnn_error ignored;
    solved_count n = c->all;
    if (group != SOLVED_ALL && solved_count_answers(set, candidate, group, &n, &ignored) != CNN_OK) return NULL;
    cnn_record *record = record_new("solved");
    record_text(record, "impl", c->impl);
    record_text(record, "algorithm", c->algorithm);
    record_text(record, "source", c->source);
    record_text(record, "setting", c->knobs);
    record_text(record, "machine", c->machine);
    if (c->threads > 0) record_int(record, "threads", c->threads);
    record_group(record, set, group);
    record_int(record, "problems", n.problems);
    record_int(record, "right", n.right);
    record_int(record, "wrong", n.wrong);
    record_int(record, "refused", n.refused);
    record_int(record, "not_asked", n.not_asked);
    record_shares(record, set, candidate, group, &n);
    return record;
}
