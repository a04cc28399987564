/* compare_record.c: what a comparison came to, for a file; what else differs. */
#include "compare.h"

#include <math.h>
#include <string.h>

cnn_record *compare_record(const figure *a, const figure *b, const comparison *r, const char *across)
{
    char reason[64];
    cnn_record *record = record_new("compare");
    record_text(record, "figure", a->key);
    if (across) {
        record_text(record, "a_figure", a->whole);
        record_text(record, "b_figure", b->whole);
    }
    record_text(record, "verdict", compare_verdict_name(r->verdict));
    if (r->verdict == COMPARE_CANNOT_TELL)
        record_text(record, "reason", compare_reason(a, b, r, reason, sizeof reason));
    record_real(record, "a_s", r->a);
    record_int(record, "a_runs", a->n_runs);
    record_real(record, "b_s", r->b);
    record_int(record, "b_runs", b->n_runs);
    record_real(record, "ratio", r->ratio);
    record_real(record, "ratio_low", r->low);
    record_real(record, "ratio_high", r->high);
    record_real(record, "margin", r->margin);
    if (r->pairs == 0) return record;
    record_int(record, "pairs", r->pairs);
    record_int(record, "far_slower", r->far_slower);
    record_int(record, "far_faster", r->far_faster);
    record_real(record, "p", r->p);
    record_real(record, "discovery_rate", r->rate);
    if (isnan(r->itself)) return record;
    record_real(record, "control_ratio", r->itself);
    record_real(record, "control_p", r->itself_p);
    return record;
}

bool figures_differ(const figure_set *a, const figure_set *b, int index, figure_difference *difference)
{
    for (int i = 0; i < a->n_facts + b->n_facts; i++) {
        const char *key = i < a->n_facts ? a->facts[i].key : b->facts[i - a->n_facts].key;
        const char *was = figures_fact(a, key), *is = figures_fact(b, key);
        if ((was && i >= a->n_facts) || (was && is && strcmp(was, is) == 0)) continue; /* said, or nothing to say */
        if (index-- > 0) continue;
        *difference = (figure_difference){key, was, is};
        return true;
    }
    return false;
}
