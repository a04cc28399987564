/* compare_rounds.c: figures of fresh processes, round by round: see compare.h. */
#include "bench/measure/stats.h"
#include "compare.h"
#include "harness/base/grow.h"
#include "signed_rank.h"

#include <math.h>
#include <stdlib.h>

static const figure_process *find(const figure *f, int64_t round, bool again)
{
    for (int i = 0; i < f->n_processes; i++)
        if (f->processes[i].round == round && f->processes[i].again == again) return &f->processes[i];
    return NULL;
}

/* Logarithms of b's times by a's, of the rounds that have both, and how many; `again`: b's arm A'. */
static int pair_up(const figure *a, const figure *b, bool again, double *differences)
{
    int count = 0;
    for (int i = 0; i < a->n_processes && count < SIGNED_RANK_MOST; i++) {
        const figure_process *of_a = &a->processes[i];
        const figure_process *of_b = of_a->again ? NULL : find(b, of_a->round, again);
        if (of_b == NULL) continue;
        differences[count++] = log(of_b->seconds / of_a->seconds);
    }
    return count;
}

double compare_itself(const figure *f)
{
    double sums[2] = {0, 0};
    int counts[2] = {0, 0};
    for (int i = 0; i < f->n_processes; i++) {
        sums[f->processes[i].again] += log(f->processes[i].seconds);
        counts[f->processes[i].again]++;
    }
    return counts[0] > 0 && counts[1] > 0 ? expm1(fabs(sums[1] / counts[1] - sums[0] / counts[0])) : NAN;
}

static double middle_of(const figure *f)
{
    double seconds[2 * SIGNED_RANK_MOST];
    int count = 0;
    for (int i = 0; i < f->n_processes; i++)
        if (!f->processes[i].again) seconds[count++] = f->processes[i].seconds;
    return bench_median(seconds, count);
}

/* All but the rate and the verdict. */
static cnn_status compare_pairs(const figure *a, const figure *b, double threshold, comparison *result, cnn_error *err)
{
    double differences[SIGNED_RANK_MOST];
    const double margin = log1p(threshold), alpha = COMPARE_FALSE_POSITIVES;
    signed_rank test = {.p = NAN};
    *result =
        (comparison){.high = INFINITY, .margin = threshold, .p = NAN, .rate = NAN, .itself = NAN, .itself_p = NAN};
    result->pairs = pair_up(a, b, false, differences);
    if (result->pairs == 0) return CNN_OK;
    cnn_status status = signed_rank_of(differences, result->pairs, margin, alpha, &test, err);
    result->a = middle_of(a);
    result->b = middle_of(b);
    result->ratio = exp(test.middle);
    result->low = exp(test.low);
    result->high = exp(test.high);
    result->p = test.p;
    result->far_slower = test.far_above;
    result->far_faster = test.far_below;
    const figure *const sides[] = {a, b};
    for (int s = 0; s < 2 && isnan(result->itself); s++) {
        const int pairs = pair_up(sides[s], sides[s], true, differences);
        if (pairs == 0 || status != CNN_OK) continue;
        status = signed_rank_of(differences, pairs, margin, alpha, &test, err);
        result->itself = exp(test.middle);
        result->itself_p = test.p;
    }
    return status;
}

static void judge(comparison *r, double rate)
{
    const bool alike = !(r->itself_p <= COMPARE_FALSE_DISCOVERIES); /* a NaN says nothing against it */
    const bool differs = alike && rate <= COMPARE_FALSE_DISCOVERIES;
    r->rate = rate;
    if (differs)
        r->verdict = r->ratio > 1 ? COMPARE_SLOWER : COMPARE_FASTER;
    else if (alike && r->low >= 1 / (1 + r->margin) && r->high <= 1 + r->margin)
        r->verdict = COMPARE_SAME;
    else
        r->verdict = COMPARE_CANNOT_TELL;
}

cnn_status compare_gather(const figure_set sets[2], double threshold, compare_rates *rates, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < sets[0].count; i++) {
        const figure *a = &sets[0].list[i], *b = figures_find(&sets[1], a->key);
        comparison r;
        if (b == NULL) continue;
        status = compare_pairs(a, b, threshold, &r, err);
        if (status != CNN_OK || r.pairs == 0) continue;
        double *p = cnn_add_item(&rates->list, &rates->count, &rates->room, sizeof *p, "comparisons", err);
        if (p == NULL) return err->status;
        *p = r.p;
    }
    return status;
}

void compare_correct(compare_rates *rates) { false_discovery_rates(rates->list, rates->count); }

cnn_status compare_processes(const figure *a, const figure *b, double threshold, compare_rates *rates,
                             comparison *result, cnn_error *err)
{
    const cnn_status status = compare_pairs(a, b, threshold, result, err);
    if (status == CNN_OK && result->pairs > 0) judge(result, rates->list[rates->next++]);
    return status;
}
