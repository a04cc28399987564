/* list.c: reading lists of mutants (list.h has the grammar). */
#include "list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *path;
    int line;
    mutant_list *list;
} reader;

static cnn_status no_memory(cnn_error *err) { return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the mutants"); }

static void mutant_free(mutant *m)
{
    free(m->name), free(m->why), free(m->of), free(m->verify);
    for (int i = 0; i < m->n_units; i++) free(m->units[i]);
    for (int i = 0; i < m->n_changes; i++) free(m->changes[i].file), free(m->changes[i].text);
}

void mutant_list_free(mutant_list *list)
{
    for (int i = 0; i < list->count; i++) mutant_free(&list->items[i]);
    free(list->items);
    *list = (mutant_list){0};
}

const mutant *mutant_find(const mutant_list *list, const char *name)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0) return &list->items[i];
    return NULL;
}

/* What the entry before this line lacks, or NULL. */
static const char *lacks(const mutant *m)
{
    bool changed = m->n_changes > 0;
    for (int i = 0; i < m->n_changes; i++) changed = changed && m->changes[i].text[0] != '\0';
    return m->why == NULL      ? "'why'"
           : m->of == NULL     ? "'of'"
           : m->verify == NULL ? "'verify'"
           : m->n_units == 0   ? "'unit'"
           : !changed          ? "a change after 'in'"
                               : NULL;
}

static cnn_status end_entry(const reader *r, cnn_error *err)
{
    const mutant_list *list = r->list;
    if (list->count == 0) return CNN_OK;
    const mutant *m = &list->items[list->count - 1];
    const char *what = lacks(m);
    if (what == NULL) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_FORMAT, "%s:%d: mutant %s has not %s", r->path, m->line, m->name, what);
}

static cnn_status begin_entry(const reader *r, const char *name, cnn_error *err)
{
    mutant_list *list = r->list;
    cnn_status status = end_entry(r, err);
    if (status != CNN_OK) return status;
    if (mutant_find(list, name) != NULL)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%s:%d: a second mutant %s", r->path, r->line, name);
    /* It becomes the name of a program. */
    if (name[0] == '.' || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.")] != '\0')
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%s:%d: the name '%.64s' may hold a-z, 0-9, _ and . only", r->path,
                        r->line, name);
    if (list->count == list->capacity) {
        const int capacity = list->capacity > 0 ? 2 * list->capacity : 64;
        mutant *items = realloc(list->items, (size_t)capacity * sizeof *items);
        if (items == NULL) return no_memory(err);
        list->items = items, list->capacity = capacity;
    }
    list->items[list->count] = (mutant){.name = strdup(name), .line = r->line};
    return list->items[list->count++].name != NULL ? CNN_OK : no_memory(err);
}

/* A line of a change, marked in its first column. */
static cnn_status add_line(const reader *r, mutant *m, const char *line, cnn_error *err)
{
    if (m == NULL || m->n_changes == 0)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%s:%d: a line of a change, but no 'in' before it: '%.64s'", r->path,
                        r->line, line);
    mutant_change *c = &m->changes[m->n_changes - 1];
    const size_t used = strlen(c->text), more = strlen(line);
    char *text = realloc(c->text, used + more + 2);
    if (text == NULL) return no_memory(err);
    memcpy(text + used, line, more);
    memcpy(text + used + more, "\n", 2);
    c->text = text;
    return CNN_OK;
}

/* `value` into a field that has none yet. */
static cnn_status set_field(const reader *r, char **field, const char *key, const char *value, cnn_error *err)
{
    if (*field != NULL) return CNN_FAIL(err, CNN_BAD_FORMAT, "%s:%d: a second '%s'", r->path, r->line, key);
    *field = strdup(value);
    return *field != NULL ? CNN_OK : no_memory(err);
}

static cnn_status add_field(const reader *r, mutant *m, const char *key, const char *value, cnn_error *err)
{
    if (m == NULL) return CNN_FAIL(err, CNN_BAD_FORMAT, "%s:%d: '%.64s' before any mutant", r->path, r->line, key);
    if (strcmp(key, "why") == 0) return set_field(r, &m->why, key, value, err);
    if (strcmp(key, "of") == 0) return set_field(r, &m->of, key, value, err);
    if (strcmp(key, "verify") == 0) return set_field(r, &m->verify, key, value, err);
    if (strcmp(key, "unit") == 0) {
        if (m->n_units == MUTANT_UNITS)
            return CNN_FAIL(err, CNN_BAD_FORMAT, "%s:%d: more than %d units", r->path, r->line, (int)MUTANT_UNITS);
        return set_field(r, &m->units[m->n_units++], key, value, err);
    }
    if (strcmp(key, "in") == 0) {
        if (m->n_changes == MUTANT_CHANGES)
            return CNN_FAIL(err, CNN_BAD_FORMAT, "%s:%d: more than %d changes", r->path, r->line, (int)MUTANT_CHANGES);
        mutant_change *c = &m->changes[m->n_changes++];
        cnn_status status = set_field(r, &c->text, key, "", err);
        return status == CNN_OK ? set_field(r, &c->file, key, value, err) : status;
    }
    return CNN_FAIL(err, CNN_BAD_FORMAT, "%s:%d: '%.64s' is none of mutant, why, of, verify, unit, in", r->path,
                    r->line, key);
}

static cnn_status read_line(const reader *r, char *line, cnn_error *err)
{
    mutant *m = r->list->count > 0 ? &r->list->items[r->list->count - 1] : NULL;
    if (line[0] == '#' || line[0] == '\0') return CNN_OK;
    if (line[0] == ' ' || line[0] == '-' || line[0] == '+') return add_line(r, m, line, err);
    char *value = line + strcspn(line, " ");
    if (*value != '\0') *value++ = '\0';
    value += strspn(value, " ");
    if (*value == '\0') return CNN_FAIL(err, CNN_BAD_FORMAT, "%s:%d: '%.64s' of what?", r->path, r->line, line);
    return strcmp(line, "mutant") == 0 ? begin_entry(r, value, err) : add_field(r, m, line, value, err);
}

cnn_status mutant_list_read(const char *path, mutant_list *list, cnn_error *err)
{
    reader r = {path, 0, list};
    char *line = NULL;
    size_t capacity = 0;
    cnn_status status = CNN_OK;
    FILE *file = fopen(path, "re");
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "cannot read %s: %s", path, strerror(errno));
    while (status == CNN_OK && getline(&line, &capacity, file) >= 0) {
        r.line++;
        line[strcspn(line, "\r\n")] = '\0';
        status = read_line(&r, line, err);
    }
    if (status == CNN_OK && ferror(file)) status = CNN_FAIL(err, CNN_IO, "cannot read %s: %s", path, strerror(errno));
    if (status == CNN_OK) status = end_entry(&r, err);
    free(line);
    fclose(file);
    return status;
}
