/* kills.c: reading, counting, placing. */
#include "kills.h"

#include "days.h"
#include "harness/base/grow.h"

#include <stdlib.h>
#include <string.h>

/* ---- Reading. */

static const char *const end_names[KILLS_ENDS] = {"caught", "crash", "hang", "held", "not run"};

/* Whatever it is that is not known did not kill it. */
static kills_end end_of(const char *text)
{
    for (int i = 0; text != NULL && i < KILLS_ENDS; i++)
        if (strcmp(text, end_names[i]) == 0) return (kills_end)i;
    return KILLS_SURVIVED;
}

static bool listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at != NULL && *at != '\0'; at += strspn(at, ",")) {
        const size_t part = strcspn(at, ",");
        if (part == length && memcmp(at, name, length) == 0) return true;
        at += part;
    }
    return false;
}

static void note_control(kills_set *set, const cnn_record *record)
{
    const double runs = record_get_real(record, "runs"), held = record_get_real(record, "held");
    if (!(runs >= 0.0 && runs < 1e6 && held >= 0.0 && held <= runs)) return;
    set->runs += (int)runs;
    set->held += (int)held;
}

cnn_status kills_take(kills_set *set, const cnn_record *record, cnn_error *err)
{
    const char *mutant = record_get_text(record, "mutant"), *list = record_get_text(record, "list");
    const char *failed = record_get_text(record, "failed"), *passed = record_get_text(record, "passed");
    kills_row row = {.end = end_of(record_get_text(record, "end"))};
    if (strcmp(record_get_text(record, "kind"), "kill") != 0 || mutant == NULL) return CNN_OK;
    if (list == NULL) {
        note_control(set, record);
        return CNN_OK;
    }
    snprintf(row.mutant, sizeof row.mutant, "%.*s", CNN_NAME_MAX - 1, mutant);
    snprintf(row.list, sizeof row.list, "%.*s", CNN_NAME_MAX - 1, list);
    for (int i = 0; i < VERIFY_CHECK_COUNT; i++) {
        row.caught[i] = listed(failed, verify_check_name((verify_check)i));
        row.passed[i] = listed(passed, verify_check_name((verify_check)i)) && !row.caught[i];
    }
    if (row.end != KILLS_NOT_RUN) days_add(set->first_date, set->last_date, record_get_text(record, "date"));
    for (int i = 0; i < set->count; i++) {
        if (strcmp(set->rows[i].mutant, row.mutant) != 0) continue;
        if (row.end != KILLS_NOT_RUN) set->rows[i] = row;
        return CNN_OK;
    }
    kills_row *added = cnn_add_item(&set->rows, &set->count, &set->room, sizeof *added, "mutants", err);
    if (added == NULL) return err->status;
    *added = row;
    return CNN_OK;
}

static cnn_status take_record(void *user, const cnn_record *record, cnn_error *err)
{
    return kills_take(user, record, err);
}

cnn_status kills_read(kills_set *set, const char *path, int *bad, cnn_error *err)
{
    return record_read(path, take_record, set, bad, err);
}

void kills_free(kills_set *set)
{
    free(set->rows);
    *set = (kills_set){.count = 0};
}

/* ---- Counting and placing. */

/* Those of one list together, in the order in which the lists began. */
static void gather(kills_set *set)
{
    for (int i = 1; i < set->count; i++) {
        const kills_row moved = set->rows[i];
        int at = i;
        for (int k = 0; k < i; k++)
            if (strcmp(set->rows[k].list, moved.list) == 0) at = k + 1;
        memmove(&set->rows[at + 1], &set->rows[at], (size_t)(i - at) * sizeof moved);
        set->rows[at] = moved;
    }
}

bool kills_begins(const kills_set *set, int i)
{
    return i == 0 || strcmp(set->rows[i].list, set->rows[i - 1].list) != 0;
}

/* A list's name takes a line, and there is one free above it, but at the top of a column. No column has more than
 * `lines`. How many columns that takes. */
static int place(kills_set *set, int lines)
{
    int column = 0, line = 0;
    for (int i = 0; i < set->count; i++) {
        const int head = kills_begins(set, i) ? 1 + (line > 0) : 0;
        if (line + head + 1 > lines) {
            column++;
            line = 1; /* below the list's name, which is said again */
        } else {
            line += head;
        }
        set->rows[i].column = column;
        set->rows[i].line = line++;
    }
    return column + 1;
}

cnn_status kills_make(kills_set *set, cnn_error *err)
{
    if (set->count == 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "no mutants to draw: tests/mutants/matrix.sh records them");
    gather(set);
    for (int i = 0; i < set->count; i++) {
        set->ends[set->rows[i].end]++;
        for (int k = 0; k < VERIFY_CHECK_COUNT; k++) set->catches[k] += set->rows[i].caught[k];
    }
    for (set->lines = 2; place(set, set->lines) > KILLS_COLUMNS;) set->lines++;
    return CNN_OK;
}
