/* keep.c: --tune FILE: the winners, for `--impl NAME:tuned`. */
#include "harness/problem/names.h"
#include "parts.h"

#include <math.h>
#include <string.h>

/* The type's fastest; its default, if the figures of the last round cannot tell it from that. *usual: the default. */
static const sweep_point *winner_of(const sweep_ranking *r, int type, const sweep_point **usual)
{
    const sweep_point *best = NULL;
    *usual = NULL;
    for (int i = 0; i < r->count; i++) {
        const sweep_point *p = r->list[i];
        if (p->type != type || p->figures.round != r->last_round) continue;
        if (!best) best = p;
        if (p->usual) *usual = p;
    }
    if (best && *usual && sweep_tied(best, *usual, r->resolution)) return *usual;
    return best;
}

static bool is_swept(const sweep *s, const cnn_impl *impl, int knob)
{
    for (int k = 0; k < s->axes.n_knobs; k++)
        if (s->axes.knobs[k].impl == impl && s->axes.knobs[k].index == knob) return true;
    return false;
}

/* Knobs that differ from their table's default, and those that were swept. */
static cnn_status choice_of(const sweep *s, const sweep_group *g, const sweep_point *winner, const sweep_point *usual,
                            tuning_choice *choice, cnn_error *err)
{
    int64_t values[SWEEP_TABLE_MAX];
    const cnn_session session = sweep_describe(s, g, winner, values);
    memset(choice, 0, sizeof *choice);
    snprintf(choice->algorithm, sizeof choice->algorithm, "%s", winner->algorithm.name);
    choice->threads = winner->threads;
    choice->median_s = winner->figures.median;
    choice->default_s = usual ? usual->figures.median : NAN;
    for (int i = 0; i < session.impl->n_knobs; i++) {
        const cnn_knob *knob = &session.impl->knobs[i];
        if (values[i] == knob->def && !is_swept(s, session.impl, i)) continue;
        if (choice->n_settings == TUNING_SETTINGS)
            return CNN_FAIL(err, CNN_UNSUPPORTED, "--tune keeps at most %d knobs", TUNING_SETTINGS);
        snprintf(choice->settings[choice->n_settings++], CNN_NAME_MAX, "%.30s.%.40s=%lld", session.impl->name,
                 knob->name, (long long)values[i]);
    }
    return CNN_OK;
}

/* By an earlier run that was done with this group. */
static bool is_kept(const sweep *s, const cnn_session *base, const cnn_problem *problem, cnn_dir dir,
                    const tuning_choice *choice)
{
    char why[CNN_MESSAGE_MAX];
    const tuning_choice *kept;
    const tuning *file = tuned_file(s->b.tuned);
    if (!file || tuning_find(file, base, problem, dir, &kept, why) != TUNING_KEPT) return false;
    if (strcmp(kept->algorithm, choice->algorithm) != 0 || kept->threads != choice->threads) return false;
    if (memcmp(kept->settings, choice->settings, sizeof kept->settings) != 0) return false; /* zeros behind each text */
    return fabs(kept->median_s / choice->median_s - 1) < 1e-7;
}

cnn_status sweep_keep(sweep *s, const sweep_group *g, const sweep_ranking *r, cnn_error *err)
{
    const cnn_session *base = &s->b.sessions.list[g->session];
    cnn_status status = CNN_OK;
    for (int t = 0; s->tune && status == CNN_OK && t < s->b.types.count; t++) {
        const sweep_point *usual, *winner = winner_of(r, t, &usual);
        tuning_choice choice;
        char label[512];
        if (!winner) continue; /* nothing of this type could be timed */
        const cnn_problem problem = sweep_problem(s, g, winner);
        status = choice_of(s, g, winner, usual, &choice, err);
        const bool held = status == CNN_OK && is_kept(s, base, &problem, g->dir, &choice);
        s->held += held;
        if (status != CNN_OK || held) continue;
        status = record_write(s->tune, tuning_record(base, &problem, g->dir, &choice), err);
        s->chosen += status == CNN_OK;
        sweep_label(s, g, winner, label, sizeof label);
        if (status == CNN_OK && !s->b.options->json)
            printf("  kept in %s: %s%s\n", s->b.options->tune, label, winner == usual ? ", the default" : "");
    }
    return status;
}
