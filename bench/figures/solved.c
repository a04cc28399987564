/* solved.c: from records of single operations to answers, and what these come to. */
#include "solved.h"

#include "bench/measure/stats.h"
#include "days.h"
#include "harness/base/grow.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "harness/record/identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void copy_text(char *to, size_t size, const char *from) { snprintf(to, size, "%s", from ? from : ""); }

/* ---- Who answers */

/* "isa=1 block=2": knobs that were set. */
static void knobs_of(const cnn_record *record, char *text, size_t size)
{
    enum { PAIRS = 64 };
    record_pair knobs[PAIRS];
    const int count = record_get_pairs(record, "knobs", knobs, PAIRS);
    text[0] = '\0';
    for (int i = 0; i < count; i++) cnn_append(text, size, "%s%s=%s", i > 0 ? " " : "", knobs[i].key, knobs[i].value);
}

/* Its number; -1: no memory. One that is named without an algorithm is one candidate with all of them. */
static int candidate_of(solved_set *set, const cnn_record *record, record_naming choice, cnn_error *err)
{
    solved_candidate c = {.threads = (int)fmin(fmax(record_get_real(record, "threads"), 0), 1 << 20)};
    char name[2 * SOLVED_LABEL_MAX];
    bool fresh;
    copy_text(c.impl, sizeof c.impl, record_get_text(record, "impl"));
    copy_text(c.machine, sizeof c.machine, record_get_text(record, "machine"));
    if (choice == RECORD_BY_ALGORITHM) {
        copy_text(c.algorithm, sizeof c.algorithm, record_get_text(record, "algorithm"));
        knobs_of(record, c.knobs, sizeof c.knobs);
    }
    if (strcmp(c.impl, "kernel") == 0) copy_text(c.source, sizeof c.source, set->source);
    snprintf(name, sizeof name, "%s:%s %s %d %s %s", c.impl, c.algorithm, c.knobs, c.threads, c.machine, c.source);
    const int number = figure_name(&set->names, name, &fresh, err);
    if (number < 0 || !fresh) return number;
    solved_candidate *new =
        cnn_add_item(&set->candidates, &set->n_candidates, &set->candidate_room, sizeof *new, "candidates", err);
    if (!new) return -1;
    *new = c;
    return number;
}

/* A problem that is new: its group, and its name. */
static cnn_status add_problem(solved_set *set, const cnn_record *record, cnn_error *err)
{
    char name[SOLVED_LABEL_MAX];
    const char *op = record_get_text(record, "op"), *dir = record_get_text(record, "dir");
    const int group = solved_group_of(set, record, err);
    if (group < 0) return err->status;
    solved_problem *p = cnn_add_item(&set->asked, &set->n_asked, &set->asked_room, sizeof *p, "problems", err);
    if (!p) return err->status;
    record_problem_name(op ? op : record_get_text(record, "kind"), record_get_text(record, "problem"), name,
                        sizeof name);
    if (dir) cnn_append(name, sizeof name, " %s", dir);
    *p = (solved_problem){group, strdup(name)};
    return p->name ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a problem's name");
}

/* The texts of a figure are its task's, and who did it. NULL: no memory. */
static solved_figure *figure_of(solved_set *set, const cnn_record *record, int candidate, cnn_error *err)
{
    char *task = record_identity(record, IDENTITY_TASK, NULL), *figure = record_identity(record, IDENTITY_POINT, NULL);
    char *key = NULL;
    bool fresh = false, new_problem = false;
    int problem = -1, number = -1;
    if (task && figure && asprintf(&key, "%d %s", candidate, figure) < 0) key = NULL;
    if (!key) CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a figure's key");
    if (key) problem = figure_name(&set->problems, task, &new_problem, err);
    if (problem >= 0 && (!new_problem || add_problem(set, record, err) == CNN_OK))
        number = figure_name(&set->keys, key, &fresh, err);
    free(task);
    free(figure);
    free(key);
    if (number < 0) return NULL;
    if (!fresh) return &set->figures[number];
    solved_figure *f = cnn_add_item(&set->figures, &set->n_figures, &set->figure_room, sizeof *f, "figures", err);
    if (f) *f = (solved_figure){.candidate = candidate, .problem = problem, .low = NAN, .high = NAN};
    return f;
}

/* ---- Reading */

static cnn_status add_run(solved_figure *f, const cnn_record *record, cnn_error *err)
{
    const double median = record_get_real(record, "median_s");
    const char *state = record_get_text(record, "state");
    const bool timed = median > 0 && isfinite(median), unsupported = state && strcmp(state, "UNSUPPORTED") == 0;
    f->refused = f->refused || unsupported;
    f->wrong = f->wrong || (state && (strcmp(state, "FAILED") == 0 || strcmp(state, "MISTRUSTED") == 0)) ||
               (timed && record_is(record, "verified", false));
    if (!timed || f->wrong) return CNN_OK;
    double *run = cnn_add_item(&f->runs, &f->n_runs, &f->room, sizeof *run, "runs of a figure", err);
    if (!run) return err->status;
    *run = median;
    f->low = fmin(f->low, record_get_real(record, "low_s")); /* fmin and fmax pass over a NaN */
    f->high = fmax(f->high, record_get_real(record, "high_s"));
    return CNN_OK;
}

/* Of kernels that are compiled for a run (`--kernel`) only the environment tells which one it is. */
static void take_environment(solved_set *set, const cnn_record *record)
{
    const char *source = record_get_inner_text(record, "implementation", "kernel_source");
    days_add(set->from, set->to, record_get_text(record, "date"));
    if (source) copy_text(set->source, sizeof set->source, strrchr(source, '/') ? strrchr(source, '/') + 1 : source);
}

static cnn_status take_record(void *user, const cnn_record *record, cnn_error *err)
{
    solved_set *set = user;
    cnn_error unknown;
    const char *kind = record_get_text(record, "kind"), *impl = record_get_text(record, "impl");
    const char *algorithm = record_get_text(record, "algorithm");
    if (strcmp(kind, "env") == 0) take_environment(set, record);
    if (!impl || !algorithm || !record_get_text(record, "problem")) return CNN_OK;
    if (strcmp(kind, "sweep") != 0 && cnn_name_find(&cnn_op_names, kind, &unknown) < 0) return CNN_OK;
    const char *baseline = set->request.baseline;
    const bool base = baseline && record_chosen(baseline, impl, algorithm) != RECORD_NOT_CHOSEN;
    const record_naming choice =
        base && !set->request.impl ? RECORD_NOT_CHOSEN : record_chosen(set->request.impl, impl, algorithm);
    if (choice == RECORD_NOT_CHOSEN && !base) return CNN_OK;
    const int candidate = choice != RECORD_NOT_CHOSEN ? candidate_of(set, record, choice, err) : -1;
    if (choice != RECORD_NOT_CHOSEN && candidate < 0) return err->status;
    solved_figure *f = figure_of(set, record, candidate, err);
    if (!f) return err->status;
    f->base = base;
    char name[SOLVED_LABEL_MAX];
    snprintf(name, sizeof name, "%.100s:%.100s", impl, algorithm);
    if (base) figure_list_add(set->baseline, sizeof set->baseline, name);
    return add_run(f, record, err);
}

cnn_status solved_read(solved_set *set, const char *path, int *bad, cnn_error *err)
{
    return record_read(path, take_record, set, bad, err);
}

void solved_free(solved_set *set)
{
    for (int i = 0; i < set->n_figures; i++) free(set->figures[i].runs);
    for (int i = 0; i < set->n_asked; i++) free(set->asked[i].name);
    free(set->asked);
    free(set->figures);
    free(set->candidates);
    free(set->answers);
    figure_names_free(&set->problems);
    figure_names_free(&set->names);
    figure_names_free(&set->keys);
    figure_names_free(&set->groups);
    *set = (solved_set){.n_problems = 0};
}

/* ---- Answers */

/* The better of two answers of one candidate: what is right and faster; else what says more. */
static void take_answer(solved_answer *best, const solved_figure *f)
{
    solved_answer a = {.low = f->low, .high = f->high, .ratio = NAN};
    a.state = f->wrong ? SOLVED_WRONG : f->n_runs > 0 ? SOLVED_RIGHT : f->refused ? SOLVED_REFUSED : SOLVED_NOT_ASKED;
    a.seconds = a.state == SOLVED_RIGHT ? bench_median(f->runs, f->n_runs) : NAN;
    if (a.state > best->state || (a.state == SOLVED_RIGHT && a.seconds < best->seconds)) *best = a;
}

/* Problems that the baseline has not timed are left out: the others keep their order. */
static void leave_out(solved_set *set, solved_answer *bases)
{
    const int all = set->n_problems, n = set->n_candidates;
    int kept = 0;
    for (int p = 0; p < all; p++) {
        if (bases[p].state != SOLVED_RIGHT) continue;
        for (int c = 0; c < n; c++) set->answers[(size_t)c * (size_t)all + (size_t)kept] = *solved_at(set, c, p);
        const solved_problem left = set->asked[kept]; /* freed with the others */
        set->asked[kept] = set->asked[p];
        set->asked[p] = left;
        bases[kept++] = bases[p];
    }
    for (int c = 0; c < n; c++)
        memmove(&set->answers[(size_t)c * (size_t)kept], &set->answers[(size_t)c * (size_t)all],
                (size_t)kept * sizeof *set->answers);
    set->left_out = all - kept;
    set->n_problems = kept;
}

static void find_fastest(const solved_set *set, solved_answer *fastest)
{
    for (int p = 0; p < set->n_problems; p++) {
        fastest[p] = (solved_answer){.seconds = NAN, .low = NAN, .high = NAN};
        for (int c = 0; c < set->n_candidates; c++) {
            const solved_answer *a = solved_at(set, c, p);
            if (a->state == SOLVED_RIGHT && !(a->seconds >= fastest[p].seconds)) fastest[p] = *a;
        }
    }
}

static void hold_beside(const solved_set *set, int candidate, const solved_answer *bases, const solved_answer *fastest)
{
    for (int p = 0; p < set->n_problems; p++) {
        solved_answer *a = solved_at(set, candidate, p);
        a->ratio = NAN;
        if (a->state != SOLVED_RIGHT) continue;
        a->fastest = a->seconds <= fastest[p].seconds || a->low <= fastest[p].high;
        a->sure = bases && a->high < bases[p].low;
        a->ratio = bases ? bases[p].seconds / a->seconds : a->seconds / fastest[p].seconds;
    }
}

/* Whether no other code came from a file and function of these names. */
static bool is_source_alone(const solved_set *set, const solved_candidate *c)
{
    const size_t length = strcspn(c->source, ",") + 1;
    for (int i = 0; i < set->n_candidates; i++) {
        const char *other = set->candidates[i].source;
        if (strncmp(other, c->source, length) == 0 && strcmp(other, c->source) != 0) return false;
    }
    return true;
}

/* What tells candidates apart, and no more. */
static void label_candidates(solved_set *set)
{
    bool threads = false, machines = false;
    for (int i = 1; i < set->n_candidates; i++) {
        threads = threads || set->candidates[i].threads != set->candidates[0].threads;
        machines = machines || strcmp(set->candidates[i].machine, set->candidates[0].machine) != 0;
    }
    for (int i = 0; i < set->n_candidates; i++) {
        solved_candidate *c = &set->candidates[i];
        if (c->source[0])
            snprintf(c->label, sizeof c->label, "%s %.*s", c->impl,
                     (int)(is_source_alone(set, c) ? strcspn(c->source, ",") : strlen(c->source)), c->source);
        else
            snprintf(c->label, sizeof c->label, "%s%s%s", c->impl, c->algorithm[0] ? ":" : "", c->algorithm);
        if (c->knobs[0]) cnn_append(c->label, sizeof c->label, " %s", c->knobs);
        if (threads && c->threads > 0)
            cnn_append(c->label, sizeof c->label, ", %d thread%s", c->threads, c->threads == 1 ? "" : "s");
        if (machines && c->machine[0]) cnn_append(c->label, sizeof c->label, ", %s", c->machine);
    }
}

static cnn_status check(const solved_set *set, cnn_error *err)
{
    if (set->request.baseline && set->baseline[0] == '\0')
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "no figure of these files is of the baseline %.64s",
                        set->request.baseline);
    if (set->n_candidates == 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "no timed operation to count: `benchcnn bench --out FILE` records them; --impl chooses, and "
                        "what --baseline names is not counted");
    return CNN_OK;
}

cnn_status solved_make(solved_set *set, cnn_error *err)
{
    cnn_status status = check(set, err);
    if (status != CNN_OK) return status;
    set->n_problems = set->problems.count;
    const size_t problems = (size_t)set->n_problems;
    set->answers = calloc(problems * (size_t)set->n_candidates, sizeof *set->answers);
    solved_answer *bases = calloc(2 * problems, sizeof *bases), *fastest = bases + problems;
    if (!set->answers || !bases) {
        free(bases);
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the answers to %d problems", set->n_problems);
    }
    for (int i = 0; i < set->n_figures; i++) {
        const solved_figure *f = &set->figures[i];
        if (f->candidate >= 0) take_answer(solved_at(set, f->candidate, f->problem), f);
        if (f->base) take_answer(&bases[f->problem], f);
    }
    const bool over = set->request.baseline != NULL;
    if (over) leave_out(set, bases);
    find_fastest(set, fastest);
    for (int c = 0; c < set->n_candidates && status == CNN_OK; c++) {
        hold_beside(set, c, over ? bases : NULL, fastest);
        status = solved_count_answers(set, c, SOLVED_ALL, &set->candidates[c].all, err);
    }
    free(bases);
    if (status != CNN_OK) return status;
    label_candidates(set);
    if (set->n_problems == 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "the baseline %.64s has timed none of these problems",
                        set->request.baseline);
    return CNN_OK;
}
