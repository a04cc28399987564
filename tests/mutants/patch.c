/* patch.c: makes one change in a source text. Lines are compared without regard to white space, so that a formatter
 * does not part a mutant from its source. */
#include "list.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *line_end(const char *line) { return line + strcspn(line, "\n"); }
static const char *next_line(const char *line) { return *line_end(line) == '\n' ? line_end(line) + 1 : line_end(line); }

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at)) at++;
    return at;
}

static bool same_line(const char *a, const char *b)
{
    const char *const a_end = line_end(a), *const b_end = line_end(b);
    for (;;) {
        a = skip_space(a, a_end), b = skip_space(b, b_end);
        if (a == a_end || b == b_end) return a == a_end && b == b_end;
        if (*a++ != *b++) return false;
    }
}

/* Whether what the change looks for stands at this line of the source. */
static bool stands_at(const char *change, const char *source)
{
    for (; *change != '\0'; change = next_line(change)) {
        if (*change == '+') continue;
        if (*source == '\0' || !same_line(change + 1, source)) return false;
        source = next_line(source);
    }
    return true;
}

/* The first line that the change looks for. */
static const char *wanted(const char *change)
{
    while (*change == '+') change = next_line(change);
    return *change != '\0' ? change + 1 : change;
}

static char *put(char *to, const char *from, size_t size)
{
    memcpy(to, from, size);
    return to + size;
}

/* The source with the change made at `place`. `to` has room for both. */
static void rewrite(const char *change, const char *source, const char *place, char *to)
{
    to = put(to, source, (size_t)(place - source));
    for (; *change != '\0'; change = next_line(change)) {
        if (*change == '+') {
            to = put(to, change + 1, (size_t)(next_line(change) - change - 1));
            continue;
        }
        const char *next = next_line(place);
        if (*change == ' ') to = put(to, place, (size_t)(next - place));
        place = next;
    }
    put(to, place, strlen(place) + 1);
}

static bool same_text(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a = next_line(a), b = next_line(b))
        if (!same_line(a, b)) return false;
    return *a == *b;
}

cnn_status mutant_apply(const mutant *m, const mutant_change *c, const char *source, char **patched, cnn_error *err)
{
    const char *place = NULL, *first = wanted(c->text);
    const int shown = (int)(line_end(first) - skip_space(first, line_end(first)));
    int found = 0;
    *patched = NULL;
    if (*first == '\0')
        return CNN_FAIL(err, CNN_BAD_FORMAT, "mutant %s says not where in %s its lines belong", m->name, c->file);
    first = skip_space(first, line_end(first));
    for (const char *at = source; *at != '\0'; at = next_line(at))
        if (stands_at(c->text, at)) found++, place = at;
    if (found == 0)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "mutant %s: %s has not the text to be changed, which begins '%.*s'",
                        m->name, c->file, shown, first);
    if (found > 1)
        return CNN_FAIL(err, CNN_BAD_FORMAT,
                        "mutant %s: %s has the text to be changed %d times; add lines around '%.*s'", m->name, c->file,
                        found, shown, first);
    char *text = malloc(strlen(source) + strlen(c->text) + 1);
    if (text == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a copy of %s", c->file);
    rewrite(c->text, source, place, text);
    if (same_text(text, source)) {
        free(text);
        return CNN_FAIL(err, CNN_BAD_FORMAT, "mutant %s changes nothing in %s", m->name, c->file);
    }
    *patched = text;
    return CNN_OK;
}

cnn_status mutant_read_file(const char *path, char **text, cnn_error *err)
{
    FILE *file = fopen(path, "re");
    size_t size = 0, room = 1 << 16, got;
    char *all = NULL, *more;
    cnn_status status = CNN_OK;
    *text = NULL;
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "cannot read %s: %s", path, strerror(errno));
    do {
        if ((more = realloc(all, room *= 2)) == NULL) {
            status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %s", path);
            break;
        }
        all = more;
        size += got = fread(all + size, 1, room - size - 1, file);
        all[size] = '\0';
    } while (got > 0);
    if (status == CNN_OK && ferror(file)) status = CNN_FAIL(err, CNN_IO, "cannot read %s: %s", path, strerror(errno));
    fclose(file);
    if (status == CNN_OK)
        *text = all;
    else
        free(all);
    return status;
}
