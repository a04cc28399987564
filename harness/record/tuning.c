/* tuning.c: entries and what they rest on. */
#include "tuning.h"

#include "harness/base/grow.h"
#include "harness/device/impl.h"
#include "harness/problem/problem.h"
#include "identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    char impl[CNN_NAME_MAX];
    char *task;  /* IDENTITY_TASK */
    int threads; /* that were given */
    record_pair facts[TUNING_FACTS];
    int n_facts;
    tuning_choice choice;
} entry;

struct tuning {
    entry *list;
    int count, capacity;
};

const char *tuning_state_name(tuning_state state)
{
    return state == TUNING_KEPT ? "kept" : state == TUNING_ABSENT ? "absent" : "stale";
}

/* What it is about, whatever is chosen. */
static cnn_record *new_record(const cnn_session *session, const cnn_problem *problem, cnn_dir dir)
{
    const cnn_problem work = cnn_problem_work(problem);
    cnn_record *record = record_new("tuned");
    record_text(record, "impl", session->impl->name);
    record_problem(record, &work, dir);
    return record;
}

/* ---- Reading. */

static cnn_status take_text(const cnn_record *record, const char *key, char *text, size_t size, cnn_error *err)
{
    const char *value = record_get_text(record, key);
    if (!value) return CNN_FAIL(err, CNN_BAD_FORMAT, "a tuned choice without \"%s\"", key);
    if ((size_t)snprintf(text, size, "%s", value) < size) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_FORMAT, "\"%s\" is longer than %zu: '%.64s...'", key, size - 1, value);
}

static cnn_status take_threads(const cnn_record *record, const char *key, int *threads, cnn_error *err)
{
    const double value = record_get_real(record, key);
    if (isnan(value)) return CNN_FAIL(err, CNN_BAD_FORMAT, "a tuned choice without \"%s\"", key);
    if (!(value >= 1 && value <= 4096 && floor(value) >= value))
        return CNN_FAIL(err, CNN_BAD_FORMAT, "\"%s\" is %g, but must be a whole number from 1 to 4096", key, value);
    *threads = (int)value;
    return CNN_OK;
}

static cnn_status take_knobs(const cnn_record *record, entry *e, cnn_error *err)
{
    record_pair pairs[TUNING_SETTINGS];
    tuning_choice *c = &e->choice;
    c->n_settings = record_get_pairs(record, "knobs", pairs, TUNING_SETTINGS);
    if (c->n_settings < 0)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "\"knobs\" must be an object of at most %d whole numbers",
                        TUNING_SETTINGS);
    for (int i = 0; i < c->n_settings; i++) {
        const int length =
            snprintf(c->settings[i], CNN_NAME_MAX, "%.64s.%.64s=%.24s", e->impl, pairs[i].key, pairs[i].value);
        if (length >= CNN_NAME_MAX)
            return CNN_FAIL(err, CNN_BAD_FORMAT, "the name of a knob is too long: '%.64s'", pairs[i].key);
    }
    return CNN_OK;
}

/* Strict, unlike other records: a choice that is half understood would be run as another one. */
static cnn_status add_entry(void *user, const cnn_record *record, cnn_error *err)
{
    static const char *const needed[] = {"op", "problem", "dir", "dtype", "math", "layout"};
    tuning *t = user;
    const char *kind = record_get_text(record, "kind");
    if (strcmp(kind, "tuned") != 0)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "a record of kind '%.32s', not 'tuned': this is no tuning file", kind);
    if (record_get_text(record, "variant")) return CNN_OK; /* an older file's, which tells bias and mode otherwise */
    entry *e = cnn_add_item(&t->list, &t->count, &t->capacity, sizeof *e, "tuned choices", err);
    if (!e) return err->status;
    e->task = record_identity(record, IDENTITY_TASK, NULL);
    cnn_status status = e->task ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for tuned choices");
    for (size_t i = 0; status == CNN_OK && i < sizeof needed / sizeof *needed; i++)
        if (!record_get_text(record, needed[i]))
            status = CNN_FAIL(err, CNN_BAD_FORMAT, "a tuned choice without \"%s\"", needed[i]);
    if (status == CNN_OK) status = take_text(record, "impl", e->impl, sizeof e->impl, err);
    if (status == CNN_OK) status = take_text(record, "algorithm", e->choice.algorithm, CNN_NAME_MAX, err);
    if (status == CNN_OK) status = take_threads(record, "threads", &e->threads, err);
    if (status == CNN_OK) status = take_threads(record, "use_threads", &e->choice.threads, err);
    if (status == CNN_OK && e->choice.threads > e->threads)
        status = CNN_FAIL(err, CNN_BAD_FORMAT, "\"use_threads\" is %d, but \"threads\" says that there were only %d",
                          e->choice.threads, e->threads);
    if (status == CNN_OK) status = take_knobs(record, e, err);
    e->n_facts = record_get_pairs(record, "rests_on", e->facts, TUNING_FACTS);
    if (status == CNN_OK && e->n_facts < 0)
        status = CNN_FAIL(err, CNN_BAD_FORMAT, "\"rests_on\" must be an object of at most %d texts", TUNING_FACTS);
    e->choice.median_s = record_get_real(record, "median_s");
    e->choice.default_s = record_get_real(record, "default_s");
    return status;
}

cnn_status tuning_read(const char *path, tuning **result, cnn_error *err)
{
    tuning *t = *result = calloc(1, sizeof *t);
    if (!t) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a tuning file");
    return record_read_strictly(path, add_entry, t, err);
}

void tuning_free(tuning *t)
{
    if (!t) return;
    for (int i = 0; i < t->count; i++) free(t->list[i].task);
    free(t->list);
    free(t);
}

/* ---- Finding. */

static const char *value_of(const record_pair *facts, int count, const char *key)
{
    for (int i = 0; i < count; i++)
        if (strcmp(facts[i].key, key) == 0) return facts[i].value;
    return NULL;
}

/* True, and what differs, when the choice rests on something else than what is here. */
static bool rests_elsewhere(const entry *e, const cnn_session *session, const record_pair *facts, int count,
                            char why[CNN_MESSAGE_MAX])
{
    for (int i = 0; i < e->n_facts; i++) {
        const char *now = value_of(facts, count, e->facts[i].key);
        if (now && strcmp(now, e->facts[i].value) == 0) continue;
        snprintf(why, CNN_MESSAGE_MAX, "%.64s was '%.120s' and is %s%.120s%s", e->facts[i].key, e->facts[i].value,
                 now ? "'" : "", now ? now : "unknown", now ? "'" : "");
        return true;
    }
    for (int i = 0; i < count; i++) {
        if (value_of(e->facts, e->n_facts, facts[i].key)) continue;
        snprintf(why, CNN_MESSAGE_MAX, "%.64s was not recorded and is '%.120s'", facts[i].key, facts[i].value);
        return true;
    }
    if (session->impl->device_kind != CNN_DEVICE_CPU || e->threads == session->threads) return false;
    snprintf(why, CNN_MESSAGE_MAX, "it was found with %d thread%s, and here are %d", e->threads,
             e->threads == 1 ? "" : "s", session->threads);
    return true;
}

/* Whether algorithm and knobs are still there. */
static bool is_usable(const tuning_choice *c, const cnn_session *session, const cnn_problem *problem, cnn_dir dir,
                      char why[CNN_MESSAGE_MAX])
{
    const char *settings[TUNING_SETTINGS];
    cnn_algorithm algorithm;
    cnn_error err = {.message = ""};
    int64_t *values = calloc((size_t)session->impl->n_knobs + 1, sizeof *values);
    for (int i = 0; i < c->n_settings; i++) settings[i] = c->settings[i];
    cnn_status status = values ? cnn_knob_values(session->impl, settings, c->n_settings, values, &err)
                               : CNN_FAIL(&err, CNN_OUT_OF_MEMORY, "no memory for knobs");
    free(values);
    if (status == CNN_OK) status = cnn_algorithm_pick(session, problem, dir, c->algorithm, &algorithm, &err);
    if (status == CNN_OK && strcmp(algorithm.name, c->algorithm) != 0)
        status =
            CNN_FAIL(&err, CNN_UNSUPPORTED, "%s has no algorithm '%.64s' any more", session->impl->name, c->algorithm);
    if (status != CNN_OK) snprintf(why, CNN_MESSAGE_MAX, "%s", err.message);
    return status == CNN_OK;
}

tuning_state tuning_find(const tuning *t, const cnn_session *session, const cnn_problem *problem, cnn_dir dir,
                         const tuning_choice **choice, char why[CNN_MESSAGE_MAX])
{
    record_pair facts[TUNING_FACTS];
    bool stale = false;
    const int count = cnn_session_facts(session, facts, TUNING_FACTS);
    cnn_record *record = new_record(session, problem, dir);
    char *task = record_identity(record, IDENTITY_TASK, NULL);
    *choice = NULL;
    for (int i = t->count - 1; task && !*choice && i >= 0; i--) {
        const entry *e = &t->list[i];
        char reason[CNN_MESSAGE_MAX];
        if (strcmp(e->impl, session->impl->name) != 0 || strcmp(e->task, task) != 0) continue;
        if (!rests_elsewhere(e, session, facts, count, reason) && is_usable(&e->choice, session, problem, dir, reason))
            *choice = &e->choice;
        else if (!stale)
            memcpy(why, reason, sizeof reason); /* the latest's */
        stale = true;
    }
    free(task);
    record_free(record);
    if (*choice) return TUNING_KEPT;
    if (!stale) snprintf(why, CNN_MESSAGE_MAX, "there is none for this problem");
    return stale ? TUNING_STALE : TUNING_ABSENT;
}

int tuning_threads(const tuning_choice *choice, const cnn_impl *impl, int given)
{
    return impl->device_kind == CNN_DEVICE_CPU ? choice->threads : given;
}

/* ---- Keeping. */

cnn_record *tuning_record(const cnn_session *session, const cnn_problem *problem, cnn_dir dir, const tuning_choice *c)
{
    record_pair facts[TUNING_FACTS], knobs[TUNING_SETTINGS];
    const int count = cnn_session_facts(session, facts, TUNING_FACTS);
    for (int i = 0; i < c->n_settings; i++) {
        const char *name = c->settings[i] + strlen(session->impl->name) + 1, *equals = strchr(name, '=');
        snprintf(knobs[i].key, sizeof knobs[i].key, "%.*s", (int)(equals - name), name);
        snprintf(knobs[i].value, sizeof knobs[i].value, "%s", equals + 1);
    }
    cnn_record *record = new_record(session, problem, dir);
    record_int(record, "threads", session->threads);
    record_text(record, "algorithm", c->algorithm);
    record_int(record, "use_threads", c->threads);
    record_int_pairs(record, "knobs", knobs, c->n_settings);
    record_real(record, "median_s", c->median_s);
    record_real(record, "default_s", c->default_s);
    record_text_pairs(record, "rests_on", facts, count);
    return record;
}
