/* page_environment.c: who measured what where. An environment is a machine with its system and one build of this
 * program; a session is an implementation in it, with the device and the libraries that it tells of. */
#include "compare.h"
#include "harness/base/grow.h"
#include "harness/base/text.h"
#include "page_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "FIELD=VALUE ...": what of the record must be the same. To be freed; NULL: no memory. */
static char *key_of(const cnn_record *record)
{
    char *key = NULL;
    const char *field;
    size_t size;
    FILE *stream = open_memstream(&key, &size);
    for (int i = 0; stream != NULL && (field = figures_fact_field(i)) != NULL; i++) {
        char *value = record_json(record, field);
        if (value != NULL) fprintf(stream, "%s=%s ", field, value);
        free(value);
    }
    if (stream != NULL && fclose(stream) == 0) return key;
    free(key);
    return NULL;
}

/* The same of a session: threads are asked for, and which slot a card is in changes nothing. */
static char *session_key(const cnn_record *record, int environment)
{
    enum { PAIRS_MAX = 64 };
    char *key = NULL;
    size_t size;
    record_pair pairs[PAIRS_MAX];
    const char *impl = record_get_text(record, "impl");
    const int count = record_get_pairs(record, "implementation", pairs, PAIRS_MAX);
    FILE *stream = open_memstream(&key, &size);
    if (stream == NULL) return NULL;
    fprintf(stream, "%d %s", environment, impl ? impl : "");
    for (int i = 0; i < count; i++)
        if (strcmp(pairs[i].key, "threads") != 0 && strcmp(pairs[i].key, "pci_bus_id") != 0)
            fprintf(stream, " %s=%s", pairs[i].key, pairs[i].value);
    if (fclose(stream) == 0) return key;
    free(key);
    return NULL;
}

static cnn_status take_environment(page *p, const cnn_record *record, int *id, cnn_error *err)
{
    const char *date = record_get_text(record, "date"), *field;
    bool fresh = false;
    char *key = key_of(record);
    if (key == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for an environment");
    *id = figure_name(&p->environment_names, key, &fresh, err);
    free(key);
    if (*id < 0) return err->status;
    if (fresh) {
        page_environment *e =
            cnn_add_item(&p->environments, &p->n_environments, &p->environment_room, sizeof *e, "environments", err);
        if (e == NULL) return err->status;
        e->record = record_new("environment");
        record_int(e->record, "id", *id);
        for (int i = 0; (field = figures_fact_field(i)) != NULL; i++) record_copy(e->record, record, &field, 1);
        record_copy(e->record, record, (const char *const[]){"cores_online", "cpu_mhz", "load_average"}, 3);
    }
    page_environment *e = &p->environments[*id];
    if (date != NULL && (e->from[0] == '\0' || strcmp(date, e->from) < 0))
        snprintf(e->from, sizeof e->from, "%s", date);
    if (date != NULL && strcmp(date, e->to) > 0) snprintf(e->to, sizeof e->to, "%s", date);
    return CNN_OK;
}

cnn_status page_add_environment(page *p, const cnn_record *record, cnn_error *err)
{
    int environment = -1;
    bool fresh = false;
    cnn_status status = take_environment(p, record, &environment, err);
    char *key = status == CNN_OK ? session_key(record, environment) : NULL;
    if (status == CNN_OK && key == NULL) status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a session");
    const int id = status == CNN_OK ? figure_name(&p->session_names, key, &fresh, err) : -1;
    free(key);
    if (id < 0) return err->status;
    if (fresh) {
        const char *impl = record_get_text(record, "impl"), *cpu = record_get_text(record, "cpu");
        const char *gpu = record_get_inner_text(record, "implementation", "gpu");
        page_session *s = cnn_add_item(&p->sessions, &p->n_sessions, &p->session_room, sizeof *s, "sessions", err);
        if (s == NULL) return err->status;
        s->environment = environment;
        s->record = record_new("session");
        record_int(s->record, "id", id);
        record_int(s->record, "environment", environment);
        record_copy(s->record, record, (const char *const[]){"impl", "implementation"}, 2);
        snprintf(s->impl, sizeof s->impl, "%s", impl ? impl : "");
        snprintf(s->machine, sizeof s->machine, "%s", gpu ? gpu : cpu ? cpu : "");
    }
    p->session = id;
    p->sessions[id].seen = ++p->seen;
    return page_add_command(p, record, err);
}

/* A run tells its environments one after the other, and names in its records which of the implementations it was. */
int page_session_of(const page *p, const char *impl)
{
    if (p->session < 0 || impl == NULL) return p->session;
    int found = p->session, seen = 0;
    for (int i = 0; i < p->n_sessions; i++) {
        const page_session *s = &p->sessions[i];
        if (s->seen <= seen || s->environment != p->sessions[p->session].environment || strcmp(s->impl, impl) != 0)
            continue;
        found = i;
        seen = s->seen;
    }
    return found;
}

cnn_status page_add_command(page *p, const cnn_record *record, cnn_error *err)
{
    const char *command = record_get_text(record, "command"), *kind = record_get_text(record, "kind");
    const double exit_status = record_get_real(record, "status");
    bool fresh;
    if (command == NULL || command[0] == '\0') return CNN_OK;
    const int id = figure_name(&p->command_names, command, &fresh, err);
    if (id < 0) return err->status;
    if (fresh) {
        page_command *added =
            cnn_add_item(&p->commands, &p->n_commands, &p->command_room, sizeof *added, "commands", err);
        if (added == NULL) return err->status;
        added->status = -1;
    }
    page_command *c = &p->commands[id];
    p->command = id;
    if (strcmp(kind, "begin") == 0) c->runs++;
    if (strcmp(kind, "end") == 0) c->status = exit_status >= 0 && exit_status < 256 ? (int)exit_status : -1;
    return CNN_OK;
}
