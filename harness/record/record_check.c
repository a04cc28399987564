/* record_check.c: whether a record is what the table of fields (fields.inc) says of its kind. */
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "record_object.h"

#include <math.h>
#include <string.h>

typedef struct field_row {
    const char *kinds, *names, *types, *unit, *meaning;
} field_row;

static const field_row rows[] = {
#define FIELDS(kinds, names, types, unit, meaning) {kinds, names, types, unit, meaning},
#define PROSE FIELDS
#include "fields.inc"
#undef PROSE
#undef FIELDS
};
enum { ROWS = sizeof rows / sizeof *rows, NAMES_MAX = 128 };

/* The word number `index` of "a, b"; of fewer words the last. Its length; 0: there is none. */
static int word_of(const char *words, int index, const char **word)
{
    for (; index > 0 && strstr(words, ", ") != NULL; index--) words = strstr(words, ", ") + 2;
    *word = words;
    return (int)strcspn(words, ",");
}

/* Which of the row's names it is; -1: none. */
static int place_of(const field_row *row, const char *name)
{
    const int length = (int)strlen(name);
    int i = 0;
    for (const char *at = row->names; at != NULL; i++) {
        const char *word;
        if (word_of(at, 0, &word) == length && strncmp(word, name, (size_t)length) == 0) return i;
        at = strstr(at, ", ");
        at = at != NULL ? at + 2 : NULL;
    }
    return -1;
}

static bool lists(const char *kinds, const char *kind)
{
    const size_t length = strlen(kind);
    for (const char *at = kinds; at != NULL; at = strchr(at, ','), at = at ? at + 1 : NULL)
        if (strncmp(at, kind, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    return false;
}

static bool is_whole(const cJSON *item)
{
    return cJSON_IsNumber(item) && isfinite(item->valuedouble) && !(floor(item->valuedouble) < item->valuedouble);
}

static bool all_are(const cJSON *items, bool text)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, items)
    {
        if (text ? !cJSON_IsString(item) && !cJSON_IsNull(item) : !is_whole(item)) return false;
    }
    return true;
}

static bool is_reals(const cJSON *items)
{
    const cJSON *item;
    if (!cJSON_IsArray(items)) return false;
    cJSON_ArrayForEach(item, items)
    {
        if (!cJSON_IsNumber(item) && !cJSON_IsNull(item)) return false;
    }
    return true;
}

/* A fact that is not known is null, or left out. */
static bool has_type(const cJSON *item, const char *type)
{
    if (cJSON_IsNull(item)) return true;
    if (strcmp(type, "text") == 0) return cJSON_IsString(item);
    if (strcmp(type, "int") == 0) return is_whole(item);
    if (strcmp(type, "real") == 0) return cJSON_IsNumber(item);
    if (strcmp(type, "bool") == 0) return cJSON_IsBool(item);
    if (strcmp(type, "reals") == 0) return is_reals(item);
    return cJSON_IsObject(item) && all_are(item, strstr(type, "texts") != NULL);
}

/* What the row asks of its name number `place`: the type, and behind it the unit. */
static void wanted(const field_row *row, int place, char type[32], char unit[32])
{
    const char *word;
    int length = word_of(row->types, place, &word);
    snprintf(type, 32, "%.*s", length, word);
    length = word_of(row->unit, place, &word);
    snprintf(unit, 32, "%.*s", length, word);
}

static bool holds(const cJSON *item, const field_row *row, int place, bool *typed)
{
    char type[32], unit[32];
    wanted(row, place, type, unit);
    *typed = has_type(item, type);
    /* launch_s is a difference: of a launch that costs nothing it is now above 0, now below */
    const bool time = strcmp(unit, "s") == 0 && strcmp(item->string, "launch_s") != 0;
    return *typed && !(time && cJSON_IsNumber(item) && item->valuedouble < 0);
}

static void refuse_value(const cJSON *item, const field_row *row, int place, record_fault *each, void *user)
{
    char type[32], unit[32], text[640];
    bool typed;
    wanted(row, place, type, unit);
    (void)holds(item, row, place, &typed);
    char *value = cJSON_PrintUnformatted(item);
    snprintf(text, sizeof text, "is %.80s, and must be %s%s%s%s%.300s", value ? value : "too large to be shown",
             typed ? "0 or more" : type, unit[0] ? ", " : "", unit, row->meaning[0] ? ": " : "", row->meaning);
    cJSON_free(value);
    each(user, item->string, text, true);
}

/* The nearest of the names that the kind has, for one that it has not. */
static void refuse_name(const char *kind, const char *name, record_fault *each, void *user)
{
    char room[NAMES_MAX][32], text[256];
    const char *names[NAMES_MAX], *word;
    int count = 0;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; lists(rows[i].kinds, kind) && count < NAMES_MAX; k++) {
            const int length = word_of(rows[i].names, k, &word);
            snprintf(room[count], sizeof room[0], "%.*s", length, word);
            names[count] = room[count];
            count++;
            if (word[length] == '\0') break;
        }
    const char *nearest = cnn_nearest_name(name, names, count);
    snprintf(text, sizeof text, "is no field of %.40s that this version knows%s%s%s", kind,
             nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    each(user, name, text, nearest != NULL);
}

/* The rows of a kind, looked up once a record; 0: there is no such kind. */
static int rows_of(const char *kind, const field_row *of[ROWS])
{
    int count = 0;
    for (int i = 0; strchr(kind, ',') == NULL && i < ROWS; i++)
        if (lists(rows[i].kinds, kind)) of[count++] = &rows[i];
    return count;
}

/* A name may have two rows for a kind: then one of them must hold. */
static void check_field(const char *kind, const field_row *const *of, int count, const cJSON *item, record_fault *each,
                        void *user)
{
    const field_row *refused = NULL;
    bool typed;
    for (int i = 0; i < count; i++) {
        const int place = place_of(of[i], item->string);
        if (place < 0) continue;
        if (holds(item, of[i], place, &typed)) return;
        if (refused == NULL) refused = of[i];
    }
    if (refused != NULL)
        refuse_value(item, refused, place_of(refused, item->string), each, user);
    else
        refuse_name(kind, item->string, each, user);
}

bool record_known(const char *line, size_t length)
{
    const cnn_record record = {.object = record_parse(line, length)};
    const field_row *of[ROWS];
    const bool known = record.object != NULL && rows_of(record_get_text(&record, "kind"), of) > 0;
    cJSON_Delete(record.object);
    return known;
}

void record_check(const cnn_record *record, record_fault *each, void *user)
{
    const char *kind = record_get_text(record, "kind");
    const field_row *of[ROWS];
    const int count = rows_of(kind, of);
    const cJSON *item;
    if (count == 0) {
        char text[160];
        snprintf(text, sizeof text, "is '%.64s', which this version does not know", kind);
        each(user, "kind", text, true);
        return;
    }
    cJSON_ArrayForEach(item, record->object)
    {
        if (strcmp(item->string, "kind") != 0) check_field(kind, of, count, item, each, user);
    }
}
