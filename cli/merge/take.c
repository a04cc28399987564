/* take.c: what becomes of each record: kept, or dropped since it is there already; whether it contradicts another;
 * which cases it counts for. The environment of a run stands at its beginning, so what comes before all of it waits. */
#include "parts.h"

#include "cli/table.h"
#include "harness/base/grow.h"
#include "harness/record/identity.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

typedef struct verdict {
    char *key, state[MERGE_STATE_MAX];
    const char *path; /* where it was first */
    int line;
} verdict;

static int compare_texts(const void *a, const void *b) { return strcmp(a, b); }

static int compare_verdicts(const void *a, const void *b)
{
    return strcmp(((const verdict *)a)->key, ((const verdict *)b)->key);
}

static cnn_status no_memory(cnn_error *err) { return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to merge records"); }

/* *fresh: this text, which becomes the tree's or is freed, was not there. */
static cnn_status add_text(void **tree, char *text, bool *fresh, cnn_error *err)
{
    char **found = tsearch(text, tree, compare_texts);
    *fresh = found != NULL && *found == text;
    if (!*fresh) free(text);
    return found != NULL ? CNN_OK : no_memory(err);
}

/* Exactly the same line, of the same shard of the same command, in the same environment, is a duplicate. */
static cnn_status keep_line(merge_run *m, const char *line, cnn_error *err)
{
    char *key;
    bool fresh;
    if (asprintf(&key, "%d %lld %d %s", m->group, (long long)m->shard, m->environment, line) < 0) return no_memory(err);
    if (add_text(&m->lines, key, &fresh, err) != CNN_OK) return err->status;
    m->duplicates += !fresh;
    if (!fresh) return CNN_OK;
    m->written++;
    m->environments[m->environment].records++;
    return fprintf(m->text, "%s\n", line) > 0 ? CNN_OK : no_memory(err);
}

static cnn_status wait_with(merge_run *m, const char *line, cnn_error *err)
{
    char **item = cnn_add_item(&m->waiting, &m->n_waiting, &m->room_waiting, sizeof *item, "records", err);
    if (!item) return err->status;
    *item = strdup(line);
    return *item ? CNN_OK : no_memory(err);
}

/* The environment is known: those that waited for it. */
static cnn_status go_on(merge_run *m, cnn_error *err)
{
    cnn_status status = CNN_OK;
    if (m->beginning || m->environment < 0) status = merge_find_environment(m, err);
    m->beginning = false;
    for (int i = 0; i < m->n_waiting; i++) {
        if (status == CNN_OK) status = keep_line(m, m->waiting[i], err);
        free(m->waiting[i]);
    }
    m->n_waiting = 0;
    return status;
}

/* "cpu:direct conv FWD mb1... exact". */
static void print_difference(const merge_run *m, const verdict *old, const verdict *now)
{
    table_print(12, "DIFFERS     %s: %s in %s:%d, %s in %s:%d\n", strchr(now->key, ' ') + 1, old->state, old->path,
                old->line, now->state, m->path, now->line);
}

static cnn_status compare_verdict(merge_run *m, const cnn_record *record, const char *state, cnn_error *err)
{
    char *identity = record_identity(record, IDENTITY_RECORD, NULL);
    verdict *now = calloc(1, sizeof *now);
    const bool made = identity && now && asprintf(&now->key, "%d %s", m->environment, identity) >= 0;
    free(identity);
    if (!made) {
        free(now);
        return no_memory(err);
    }
    now->path = m->path;
    now->line = record_line(record);
    snprintf(now->state, sizeof now->state, "%s", state);
    verdict **found = tsearch(now, &m->verdicts, compare_verdicts);
    if (found && *found == now) return CNN_OK;
    if (found && strcmp((*found)->state, now->state) != 0) {
        m->differ++;
        print_difference(m, *found, now);
    }
    free(now->key);
    free(now);
    return found ? CNN_OK : no_memory(err);
}

/* A case of a command counts once, in however many environments it ran. */
static cnn_status count_case(merge_run *m, const cnn_record *record, const char *state, cnn_error *err)
{
    char *key;
    bool fresh;
    if (state[0] < 'A' || record_get_text(record, "cases")) return CNN_OK; /* a group, a block: their records count */
    if (asprintf(&key, "%d case %.0f", m->group, record_get_real(record, "number")) < 0) return no_memory(err);
    if (add_text(&m->cases, key, &fresh, err) != CNN_OK) return err->status;
    if (fresh) merge_add_cases(&m->groups[m->group], state, 1);
    return CNN_OK;
}

static cnn_status count_random(merge_run *m, const cnn_record *record, cnn_error *err)
{
    static const char *const fields[] = {"failed", "passed", "mistrusted", "skipped", "unsupported"};
    static const char *const states[] = {"FAILED", "PASSED", "MISTRUSTED", "SKIPPED", "UNSUPPORTED"};
    const char *impl = record_get_text(record, "impl"), *algorithm = record_get_text(record, "algorithm");
    const char *op = record_get_text(record, "op");
    char *key;
    bool fresh;
    if (asprintf(&key, "%d random %lld %s:%s %s", m->group, (long long)m->shard, impl ? impl : "",
                 algorithm ? algorithm : "", op ? op : "") < 0)
        return no_memory(err);
    if (add_text(&m->cases, key, &fresh, err) != CNN_OK) return err->status;
    for (size_t i = 0; fresh && i < sizeof fields / sizeof *fields; i++) {
        const double count = record_get_real(record, fields[i]);
        if (count > 0 && count < 1e15) merge_add_cases(&m->groups[m->group], states[i], (int64_t)count);
    }
    return CNN_OK;
}

static bool is_kind(const cnn_record *record, const char *kind)
{
    return strcmp(record_get_text(record, "kind"), kind) == 0;
}

/* Where to keep the environment of the record's rank; NULL, and CNN_OK: it has none. */
static cnn_status find_rank(merge_run *m, const cnn_record *record, int **found, cnn_error *err)
{
    enum { RANKS_MOST = 1 << 20 };
    const double rank = record_get_real(record, "rank");
    *found = NULL;
    if (!(rank >= 0 && rank < RANKS_MOST)) return CNN_OK;
    while (m->n_ranks <= (int)rank) {
        int *item = cnn_add_item(&m->of_ranks, &m->n_ranks, &m->room_ranks, sizeof *item, "ranks", err);
        if (!item) return err->status;
        *item = -1;
    }
    *found = &m->of_ranks[(int)rank];
    return CNN_OK;
}

/* Of one rank of several, all at once. */
static cnn_status take_rank_environment(merge_run *m, const cnn_record *record, int *of_rank, cnn_error *err)
{
    cnn_status status = merge_read_environment(m, record, err);
    if (status == CNN_OK) status = merge_find_environment(m, err);
    m->beginning = false;
    *of_rank = m->environment;
    if (status == CNN_OK) status = go_on(m, err);
    return status == CNN_OK ? keep_line(m, record_source(record), err) : status;
}

/* What begins a run, or says where it runs. */
static cnn_status begin(merge_run *m, const cnn_record *record, cnn_error *err)
{
    const bool env = is_kind(record, "env");
    int *of_rank = NULL;
    cnn_status status = CNN_OK;
    if (!env && m->beginning) status = go_on(m, err);
    if (status == CNN_OK && env) status = find_rank(m, record, &of_rank, err);
    const bool of_run = env && (m->beginning || (of_rank && m->group >= 0)); /* whose command is known */
    if (status == CNN_OK && !of_run)
        status = merge_find_group(m, record, env ? SHARD_THERE : SHARD_THERE | SHARD_BEGUN, err);
    if (!env) m->n_ranks = 0;
    if (status == CNN_OK && of_rank) return take_rank_environment(m, record, of_rank, err);
    m->beginning = true;
    if (status == CNN_OK && env) status = merge_read_environment(m, record, err);
    return status == CNN_OK ? wait_with(m, record_source(record), err) : status;
}

cnn_status merge_take(void *user, const cnn_record *record, cnn_error *err)
{
    merge_run *m = user;
    const char *state = record_get_text(record, "state");
    int *of_rank = NULL;
    cnn_status status = CNN_OK;
    m->read++;
    m->file_records++;
    if (is_kind(record, "begin") || is_kind(record, "env")) return begin(m, record, err);
    if (m->beginning || m->environment < 0) status = go_on(m, err);
    if (status == CNN_OK) status = find_rank(m, record, &of_rank, err);
    if (status == CNN_OK && of_rank && *of_rank >= 0) m->environment = *of_rank;
    if (status == CNN_OK) status = keep_line(m, record_source(record), err);
    if (status != CNN_OK) return status;
    if (is_kind(record, "end") && m->group >= 0) {
        m->groups[m->group].shards[m->shard] |= SHARD_ENDED;
        m->group = m->environment = -1;
    } else if (is_kind(record, "case")) {
        if (m->group >= 0 && state) status = count_case(m, record, state, err);
    } else if (is_kind(record, "fuzz")) {
        if (m->group >= 0) status = count_random(m, record, err);
    } else if (state && !is_kind(record, "step")) {
        status = compare_verdict(m, record, state, err);
    }
    return status;
}

cnn_status merge_end_file(merge_run *m, cnn_error *err)
{
    const cnn_status status = m->n_waiting > 0 ? go_on(m, err) : CNN_OK;
    m->group = m->environment = -1;
    m->shard = m->n_ranks = 0;
    return status;
}

static void free_verdict(void *item)
{
    verdict *v = item;
    free(v->key);
    free(v);
}

void merge_free(merge_run *m)
{
    tdestroy(m->lines, free);
    tdestroy(m->cases, free);
    tdestroy(m->verdicts, free_verdict);
    for (int i = 0; i < m->n_waiting; i++) free(m->waiting[i]);
    for (int i = 0; i < m->n_environments; i++) free(m->environments[i].key);
    for (int i = 0; i < m->n_groups; i++) {
        free(m->groups[i].command);
        free(m->groups[i].shards);
    }
    free(m->of_ranks);
    free(m->waiting);
    free(m->environments);
    free(m->groups);
    free(m->now.key);
}
