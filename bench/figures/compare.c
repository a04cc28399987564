/* compare.c: the interval of a ratio over runs, what it says, and how a figure is called.
 *
 * Welch, "The generalization of Student's problem when several different population variances are involved" (1947): two
 * means of unequal variances, here of the logarithms of the runs' medians, so that the difference is that of a ratio.
 */
#include "compare.h"

#include "harness/base/text.h"
#include "harness/record/identity.h"
#include "signed_rank.h"

#include <math.h>
#include <string.h>

/* P(|t| <= x) for whole degrees of freedom: Abramowitz and Stegun 26.7.3 (odd) and 26.7.4 (even). */
static double student_within(double x, int df)
{
    const double theta = atan(x / sqrt(df)), c = cos(theta), s = sin(theta);
    double term = df % 2 ? c : 1, sum = df == 1 ? 0 : term;
    for (int i = df % 2 ? 3 : 2; i <= df - 2; i += 2) {
        term *= c * c * (i - 1) / i;
        sum += term;
    }
    return df % 2 ? (theta + s * sum) * 2 / acos(-1) : s * sum;
}

double student_quantile(double alpha, int df)
{
    double low = 0, high = 1;
    while (1 - student_within(high, df) > alpha && high < 1e12) high *= 2;
    for (int i = 0; i < 100; i++) {
        const double middle = (low + high) / 2;
        *(1 - student_within(middle, df) > alpha ? &low : &high) = middle;
    }
    return high;
}

typedef struct spread {
    double mean, error; /* of the logarithms; error: squared, of the mean */
    int count;
} spread;

static spread spread_of(const figure *f)
{
    spread s = {.count = f->n_runs};
    for (int i = 0; i < s.count; i++) s.mean += log(f->runs[i]) / s.count;
    for (int i = 0; i < s.count && s.count > 1; i++) {
        const double off = log(f->runs[i]) - s.mean;
        s.error += off * off / (s.count - 1) / s.count;
    }
    return s;
}

/* Rounded down: a wider interval. */
static int degrees_of_freedom(const spread *a, const spread *b)
{
    const double sum = a->error + b->error;
    const double parts = a->error * a->error / (a->count - 1) + b->error * b->error / (b->count - 1);
    if (!(parts > 0)) return a->count + b->count - 2;
    const double df = sum * sum / parts;
    return df < 1 ? 1 : df > 1000 ? 1000 : (int)df;
}

static compare_verdict judge(const comparison *c)
{
    if (c->low > 1 + c->margin) return COMPARE_SLOWER;
    if (c->high < 1 / (1 + c->margin)) return COMPARE_FASTER;
    return c->low >= 1 / (1 + c->margin) && c->high <= 1 + c->margin ? COMPARE_SAME : COMPARE_CANNOT_TELL;
}

void compare_figures(const figure *a, const figure *b, int figures, double threshold, comparison *result)
{
    const double alpha = COMPARE_FALSE_POSITIVES / (figures > 1 ? figures : 1);
    const spread sa = spread_of(a), sb = spread_of(b);
    *result = (comparison){.a = exp(sa.mean), .b = exp(sb.mean), .ratio = exp(sb.mean - sa.mean), .high = INFINITY};
    result->margin = fmax(threshold, fmax(a->resolution, b->resolution)); /* fmax passes over a NaN */
    if (sa.count >= COMPARE_RUNS && sb.count >= COMPARE_RUNS) {
        const double half = student_quantile(alpha, degrees_of_freedom(&sa, &sb)) * sqrt(sa.error + sb.error);
        result->low = result->ratio * exp(-half);
        result->high = result->ratio * exp(half);
    }
    result->verdict = judge(result);
}

const char *compare_verdict_name(compare_verdict verdict)
{
    static const char *const names[COMPARE_VERDICT_COUNT] = {"FASTER", "SLOWER", "SAME", "CANNOT TELL"};
    return names[verdict];
}

const char *compare_reason(const figure *a, const figure *b, const comparison *result, char *text, size_t size)
{
    text[0] = '\0';
    if (result->verdict == COMPARE_CANNOT_TELL && result->pairs > 0 && result->itself_p <= COMPARE_FALSE_DISCOVERIES)
        snprintf(text, size, "A/A: the baseline differs from itself by %+.2g %%", 100 * (result->itself - 1));
    else if (result->verdict == COMPARE_CANNOT_TELL && result->pairs > 0 &&
             result->pairs < signed_rank_least(COMPARE_FALSE_DISCOVERIES))
        snprintf(text, size, "too few processes: %d, it takes %d", result->pairs,
                 signed_rank_least(COMPARE_FALSE_DISCOVERIES));
    else if (result->verdict == COMPARE_CANNOT_TELL && !isfinite(result->high))
        snprintf(text, size, "too few runs: %d and %d, it takes %d", a->n_runs, b->n_runs, COMPARE_RUNS);
    else if (result->verdict == COMPARE_CANNOT_TELL)
        snprintf(text, size, "noise of %.3g %%", 100 * (sqrt(result->high / result->low) - 1));
    return text;
}

/* A field's value as one says it: the algorithm stands with the implementation. */
static void value_of(const char *identity, int field, char *text, size_t size)
{
    int length, own;
    const char *value = record_identity_value(identity, field, &length), *algorithm = "";
    for (int i = 0; strcmp(record_identity_name(field), "impl") == 0 && record_identity_name(i) != NULL; i++)
        if (strcmp(record_identity_name(i), "algorithm") == 0) algorithm = record_identity_value(identity, i, &own);
    snprintf(text, size, "%.*s%s", length, value, algorithm[0] ? ":" : "");
    if (algorithm[0]) cnn_append(text, size, "%.*s", own, algorithm);
}

/* "a b c" holds the word b. */
static bool is_among(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) return true;
    return false;
}

void compare_name(const figure *a, const figure *b, char *text, size_t size)
{
    static const char untold[] = "algorithm op net_crc", usual[] = "math=f32 cache=hot",
                      by_value[] = "kind impl problem net data dir dtype layout program";
    char of_a[1024], of_b[1024], whole[CNN_NAME_MAX + 1024];
    const char *name;
    text[0] = '\0';
    for (int i = 0; (name = record_identity_name(i)) != NULL; i++) {
        value_of(a->whole, i, of_a, sizeof of_a);
        value_of(b->whole, i, of_b, sizeof of_b);
        snprintf(whole, sizeof whole, "%s=%s", name, of_a);
        const bool same = strcmp(of_a, of_b) == 0, plain = is_among(by_value, name);
        if (is_among(untold, name) || (same && (of_a[0] == '\0' || is_among(usual, whole)))) continue;
        cnn_append(text, size, "%s%s%s%s", text[0] ? " " : "", plain ? "" : name, plain ? "" : " ",
                   of_a[0] ? of_a : "none");
        if (!same) cnn_append(text, size, " -> %s", of_b[0] ? of_b : "none");
    }
}
