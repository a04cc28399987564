/* explain.c: what would explain a wrong convolution or FC layer. Authors get the same few things wrong; each is tried:
 * the reference is computed of inputs, or of a problem, that are changed so, and where all that came is within the
 * bounds of that, and not of the truth, it is named. */
#include "explain.h"

#include "harness/base/text.h"

static const struct {
    const char *what;
    vf_change *make;
} explanations[] = {
#define EXPLAIN(change, words) {words, vf_change_##change},
#include "explanations.inc"
#undef EXPLAIN
};

/* Whether all results are within the bounds of what the case expects. */
static bool held(const vf_case *c, const vf_run *run, const vf_rounding *bounds)
{
    for (int i = 0; i < c->call.count; i++) {
        if (c->after[i] == NULL || run->after[i] == NULL) continue;
        const vf_rounding own = vf_rounding_in(bounds, c, &c->call.operands[i]);
        const vf_allowance allowance = vf_allow(c->call.pool, &own, &c->call.out[i], c->call.operands[i].count);
        for (int64_t e = 0; e < c->call.operands[i].count; e++)
            if (!vf_held(c->after[i][e], run->after[i][e], vf_allowed(&allowance, e))) return false;
    }
    return true;
}

static bool explains(const vf_subject *s, const vf_case *c, const vf_case *earlier, const vf_run *run, vf_change *make)
{
    vf_case changed;
    cnn_error why;
    if (vf_case_copy(c, &changed, &why) != CNN_OK) return false;
    const bool so = make(&changed, earlier) && vf_go_on(&s->engine->options, &why) == CNN_OK &&
                    vf_case_again(&changed, s->engine->options.reference_threads, &why) == CNN_OK &&
                    held(&changed, run, &s->rounding);
    vf_case_free(&changed);
    return so;
}

/* Each explanation costs a reference. */
static const double most_flops = 3e7;

void vf_explain(const vf_subject *s, const vf_case *c, const vf_run *run, verify_result *result)
{
    vf_case earlier;
    cnn_error why;
    if (s->failed || !cnn_is_weighted(s->problem) || cnn_flops(s->problem, s->dir) > most_flops) return;
    if (held(c, run, &s->rounding)) return; /* no more than a rounding apart: nothing else is to blame */
    if (vf_case_make(&earlier, s->problem, s->dir, VF_DATA, 0, vf_other_seed(s), s->engine->pool, &why) != CNN_OK)
        return;
    for (size_t i = 0; i < sizeof explanations / sizeof *explanations; i++)
        if (explains(s, c, &earlier, run, explanations[i].make)) {
            cnn_append(result->reason, sizeof result->reason, ": %s", explanations[i].what);
            break;
        }
    vf_case_free(&earlier);
}
