/* groups.c: which command a record is of, and which of its shards there are. Shards of one command differ in --shard,
 * and may in what decides over no case: where they write, what they show, on which device and by how many processes. */
#include "parts.h"

#include "cli/table.h"
#include "harness/base/grow.h"
#include "harness/base/text.h"
#include "harness/record/identity.h"

#include <stdlib.h>
#include <string.h>

/* Behind a word as cnn_append_quoted() writes it: 'it'\''s', $'\033'. */
static const char *word_end(const char *at)
{
    bool quoted = false, escapes = false;
    for (; *at != '\0' && (quoted || *at != ' '); at++) {
        if (*at == '\\' && (!quoted || escapes) && at[1] != '\0')
            at++;
        else if (*at == '\'') {
            escapes = !quoted && at[-1] == '$';
            quoted = !quoted;
        }
    }
    return at;
}

/* The command without those options, with the seed that was drawn for it (NaN: none was). To be freed. */
static char *strip(const char *command, double seed)
{
    const size_t size = strlen(command) + 40;
    static const char valued[] = "shard,out,device,jobs", flags[] = "quiet,json";
    char *kept = calloc(1, size);
    for (const char *at = command, *end; kept && *at != '\0'; at = *end == ' ' ? end + 1 : end) {
        const char *word = at + strspn(at, "$'"); /* '--out=a b' */
        char name[CNN_NAME_MAX] = "";
        end = word_end(at);
        if (strncmp(word, "--", 2) == 0) snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "= "), word + 2);
        if (name[0] != '\0' && record_listed(flags, name)) continue;
        if (name[0] != '\0' && record_listed(valued, name)) {
            if (word[2 + strlen(name)] != '=' && *end == ' ') end = word_end(end + 1);
            continue;
        }
        strncat(kept, at, (size_t)(end - at));
        strcat(kept, " ");
    }
    if (kept && kept[0] != '\0') kept[strlen(kept) - 1] = '\0';
    if (kept && seed >= 0 && seed < 1e16) cnn_append(kept, size, " (seed %.0f)", seed);
    return kept;
}

static void shard_of(const cnn_record *record, int64_t *number, int64_t *of)
{
    const char *text = record_get_text(record, "shard");
    long long i = 1, n = 1;
    if (!text || sscanf(text, "%lld/%lld", &i, &n) != 2 || n < 1 || n > CLI_SHARDS_MAX || i < 1 || i > n) i = n = 1;
    *number = i - 1;
    *of = n;
}

static cnn_status add_group(merge_run *m, char *command, int64_t of, cnn_error *err)
{
    merge_group *g = cnn_add_item(&m->groups, &m->n_groups, &m->room_groups, sizeof *g, "commands", err);
    if (!g) {
        free(command);
        return err->status;
    }
    *g = (merge_group){.command = command, .of = of, .shards = calloc((size_t)of, 1)};
    if (g->shards) return CNN_OK;
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %lld shards", (long long)of);
}

cnn_status merge_find_group(merge_run *m, const cnn_record *record, unsigned char known, cnn_error *err)
{
    const char *typed = record_get_text(record, "command");
    char *command = strip(typed ? typed : "", record_get_real(record, "seed"));
    int64_t of;
    cnn_status status = CNN_OK;
    if (!command) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a command");
    shard_of(record, &m->shard, &of);
    for (m->group = 0; m->group < m->n_groups; m->group++)
        if (m->groups[m->group].of == of && strcmp(m->groups[m->group].command, command) == 0) break;
    if (m->group < m->n_groups)
        free(command);
    else
        status = add_group(m, command, of, err);
    if (status == CNN_OK) m->groups[m->group].shards[m->shard] |= known;
    return status;
}

/* In the order of their names: ranks write theirs as they come to them. */
void merge_add_cases(merge_group *g, const char *state, int64_t count)
{
    int i = 0;
    while (i < g->n_states && strcmp(g->states[i].state, state) < 0) i++;
    const bool there = i < g->n_states && strcmp(g->states[i].state, state) == 0;
    if (count == 0 || (!there && g->n_states == MERGE_STATES)) return;
    if (!there) {
        memmove(&g->states[i + 1], &g->states[i], (size_t)(g->n_states++ - i) * sizeof g->states[0]);
        memset(&g->states[i], 0, sizeof g->states[i]);
        snprintf(g->states[i].state, MERGE_STATE_MAX, "%.*s", MERGE_STATE_MAX - 1, state);
    }
    g->states[i].count += count;
}

static int64_t count_shards(const merge_group *g, unsigned char with, unsigned char without)
{
    int64_t count = 0;
    for (int64_t i = 0; i < g->of; i++) count += (g->shards[i] & with) == with && (g->shards[i] & without) == 0;
    return count;
}

void merge_print_groups(const merge_run *m)
{
    for (int i = 0; i < m->n_groups; i++) {
        const merge_group *g = &m->groups[i];
        char text[1024] = "";
        int64_t cases = 0;
        if (g->of > 1)
            cnn_append(text, sizeof text, ": %lld of %lld shards", (long long)count_shards(g, SHARD_THERE, 0),
                       (long long)g->of);
        for (int k = 0; k < g->n_states; k++) cases += g->states[k].count;
        if (cases > 0) cnn_append(text, sizeof text, "%s %lld cases:", g->of > 1 ? "," : ":", (long long)cases);
        for (int k = 0; k < g->n_states; k++)
            cnn_append(text, sizeof text, " %lld %s", (long long)g->states[k].count, g->states[k].state);
        table_print(4, "%s%s\n", g->command, text);
    }
}

/* "MISSING     2/8 5/8 of COMMAND". */
static bool print_shards(const merge_group *g, unsigned char with, unsigned char without, const char *word,
                         const char *advice)
{
    enum { SHOWN = 16 };
    const int64_t count = count_shards(g, with, without);
    char text[1024] = "";
    int shown = 0;
    for (int64_t i = 0; i < g->of && shown < SHOWN; i++)
        if ((g->shards[i] & with) == with && (g->shards[i] & without) == 0 && g->of > 1 && ++shown)
            cnn_append(text, sizeof text, "%lld/%lld ", (long long)i + 1, (long long)g->of);
    if (count > shown && g->of > 1) cnn_append(text, sizeof text, "and %lld more ", (long long)count - shown);
    if (count > 0) table_print(12, "%-11s %s%s%s: %s\n", word, text, text[0] ? "of " : "", g->command, advice);
    return count > 0;
}

int merge_print_missing(const merge_run *m)
{
    int count = 0;
    for (int i = 0; i < m->n_groups; i++) {
        const merge_group *g = &m->groups[i];
        const bool missing = print_shards(g, 0, SHARD_THERE, "MISSING", "none of these files holds it");
        const bool stopped = print_shards(g, SHARD_BEGUN, SHARD_ENDED, "UNFINISHED",
                                          "it was stopped, or still runs; the same command goes on with its --out");
        count += missing || stopped;
    }
    return count;
}
