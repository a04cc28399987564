/* environments.c: which environments there are, and how many records each has. Records of two are never duplicates, nor
 * do they contradict each other. */
#include "parts.h"

#include "cli/table.h"
#include "harness/base/grow.h"
#include "harness/base/text.h"
#include "harness/record/identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What differs from run to run on one machine. */
static const char changing[] = "kind,date,command,cpu_mhz,load_average,shard,rank";

static char *add_text(char *text, const char *more)
{
    const size_t length = text ? strlen(text) : 0, added = strlen(more);
    char *longer = realloc(text, length + added + 1);
    if (longer) memcpy(longer + length, more, added + 1);
    return longer;
}

static void describe(merge_environment *e, const cnn_record *record)
{
    static const char *const texts[] = {"cpu", "os"};
    const char *host = record_get_text(record, "host"), *version = record_get_text(record, "version");
    const char *commit = record_get_text(record, "commit"), *compiler = record_get_text(record, "compiler");
    const double cores = record_get_real(record, "cores");
    const size_t size = sizeof e->label;
    if (host) cnn_append(e->label, size, "%s: ", host);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = record_get_text(record, texts[i]);
        if (text) cnn_append(e->label, size, "%s, ", text);
        if (i == 0 && isfinite(cores)) cnn_append(e->label, size, "%.0f cores, ", cores);
    }
    cnn_append(e->label, size, "benchcnn %s (%s), %s", version ? version : "?", commit ? commit : "?",
               compiler ? compiler : "?");
}

/* What tells of one implementation: over ranks `rank_device` says where it ran. */
static const char own[] = "impl,threads,device,implementation";

cnn_status merge_read_environment(merge_run *m, const cnn_record *record, cnn_error *err)
{
    merge_environment *e = &m->now;
    const bool over_ranks = isfinite(record_get_real(record, "rank"));
    const char *field, *gpu = record_get_inner_text(record, "implementation", "gpu");
    if (e->label[0] == '\0') describe(e, record);
    if (gpu && strstr(e->label, gpu) == NULL) cnn_append(e->label, sizeof e->label, ", %s", gpu);
    for (int i = 0; (field = record_field(record, i)) != NULL; i++) {
        char *value, *line = NULL;
        if (record_listed(changing, field) || (over_ranks && record_listed(own, field))) continue;
        value = record_json(record, field);
        if (value && asprintf(&line, "%s=%s\n", field, value) >= 0) {
            char *longer = add_text(e->key, line);
            if (longer) e->key = longer;
            free(line);
            free(value);
            if (longer) continue;
        } else {
            free(value);
        }
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for an environment");
    }
    return CNN_OK;
}

cnn_status merge_find_environment(merge_run *m, cnn_error *err)
{
    const char *key = m->now.key ? m->now.key : "";
    m->environment = 0;
    while (m->environment < m->n_environments && strcmp(m->environments[m->environment].key, key) != 0)
        m->environment++;
    if (m->environment == m->n_environments) {
        merge_environment *e =
            cnn_add_item(&m->environments, &m->n_environments, &m->room_environments, sizeof *e, "environments", err);
        if (!e) return err->status;
        if ((e->key = strdup(key)) == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for an environment");
        memcpy(e->label, m->now.label, sizeof e->label);
    }
    free(m->now.key);
    m->now = (merge_environment){.key = NULL};
    return CNN_OK;
}

void merge_print_environments(const merge_run *m)
{
    for (int i = 0; i < m->n_environments; i++) {
        const merge_environment *e = &m->environments[i];
        table_print(4, "environment %d: %s: %lld record%s\n", i + 1, e->label[0] ? e->label : "not recorded",
                    (long long)e->records, e->records == 1 ? "" : "s");
    }
}
