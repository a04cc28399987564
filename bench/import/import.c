/* import.c: see import.h. */
#include "harness/base/grow.h"
#include "harness/base/input.h"
#include "parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

place place_of(const importing *in, const cJSON *object, const char *list, int index)
{
    place at = {.file = in, .object = object};
    snprintf(at.text, sizeof at.text, "%.70s[%d]", list, index);
    return at;
}

cnn_status place_fail(const place *at, const char *field, const char *what, cnn_error *err)
{
    return CNN_FAIL(err, CNN_BAD_FORMAT, "%.300s: %s%s%.64s %.300s", at->file->path, at->text, field[0] ? "." : "",
                    field, what);
}

const char *place_text(const place *at, const char *field, cnn_error *err)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(at->object, field));
    if (text == NULL || text[0] == '\0') place_fail(at, field, "is no text, or is not there", err);
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static cnn_status take_time(const place *at, const cJSON *item, const char *field, double unit, double *seconds,
                            cnn_error *err)
{
    char what[96];
    const double value = cJSON_IsNumber(item) ? item->valuedouble : NAN;
    *seconds = value * unit;
    if (item == NULL || cJSON_IsNull(item) || (value >= 0 && isfinite(*seconds))) return CNN_OK;
    snprintf(what, sizeof what, cJSON_IsNumber(item) ? "is %g, and must be a time of at least 0" : "is no number",
             value);
    return place_fail(at, field, what, err);
}

cnn_status place_time(const place *at, const char *field, double unit, double *seconds, cnn_error *err)
{
    return take_time(at, cJSON_GetObjectItemCaseSensitive(at->object, field), field, unit, seconds, err);
}

cnn_status place_times(const place *at, const char *field, double **times, int *count, cnn_error *err)
{
    const cJSON *items = cJSON_GetObjectItemCaseSensitive(at->object, field), *item;
    cnn_status status = CNN_OK;
    *times = NULL;
    *count = 0;
    if (items == NULL) return CNN_OK;
    if (!cJSON_IsArray(items)) return place_fail(at, field, "is no list", err);
    *times = calloc((size_t)cJSON_GetArraySize(items) + 1, sizeof **times);
    if (*times == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the times of %.300s", at->file->path);
    cJSON_ArrayForEach(item, items)
    {
        char name[PLACE_MAX];
        snprintf(name, sizeof name, "%.64s[%d]", field, *count);
        if (status == CNN_OK) status = take_time(at, item, name, 1, &(*times)[(*count)++], err);
        if (status == CNN_OK && !((*times)[*count - 1] > 0)) status = place_fail(at, name, "is no time above 0", err);
    }
    return status;
}

cnn_record *import_record(const importing *in, const char *kind, const char *program)
{
    cnn_record *record = record_new(kind);
    record_text(record, "program", program);
    record_text(record, "by", in->set->by);
    record_text(record, "source", in->name);
    record_text(record, "source_id", in->set->id);
    return record;
}

void import_real(cnn_record *record, const char *field, double value)
{
    if (!isnan(value)) record_real(record, field, value);
}

cnn_status import_add(const importing *in, cnn_record *record, cnn_error *err)
{
    import_set *set = in->set;
    cnn_record **added =
        record != NULL ? cnn_add_item(&set->list, &set->count, &set->room, sizeof *added, "records", err) : NULL;
    if (added == NULL) {
        record_free(record);
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the records of %.300s", in->path);
    }
    *added = record;
    set->timed += record_get_real(record, "median_s") > 0 || record_get_real(record, "mean_s") > 0;
    return CNN_OK;
}

/* ---- The file. */

/* All of it, with a NUL behind; to be freed. */
static cnn_status read_all(const char *path, char **text, size_t *size, cnn_error *err)
{
    const char *why;
    size_t room = 1 << 16, got;
    FILE *file = input_stream(path, &why);
    cnn_status status = CNN_OK;
    *size = 0;
    *text = NULL;
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "cannot read %.400s: %s", path, why);
    do {
        char *longer = realloc(*text, room + 1);
        if (longer == NULL || room > IMPORT_BYTES_MAX) {
            status = CNN_FAIL(err, CNN_BAD_FORMAT, "%.400s: more than %d MiB are no file of timings", path,
                              IMPORT_BYTES_MAX >> 20);
            if (longer != NULL) *text = longer;
            break;
        }
        *text = longer;
        got = fread(longer + *size, 1, room - *size, file);
        *size += got;
        longer[*size] = '\0';
        if (*size == room) room *= 2;
    } while (got > 0);
    if (status == CNN_OK && ferror(file))
        status = CNN_FAIL(err, CNN_IO, "cannot read %.400s: %s", path, strerror(errno));
    fclose(file);
    return status;
}

static int line_of(const char *text, const char *at)
{
    int line = 1;
    for (const char *c = text; c < at; c++) line += *c == '\n';
    return line;
}

static cnn_status parse(const importing *in, const char *text, size_t size, cJSON **root, cnn_error *err)
{
    const char *end = text;
    if (size == 0) return CNN_FAIL(err, CNN_BAD_FORMAT, "%.400s is empty", in->path);
    if (strlen(text) != size)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%.400s: byte %zu is a NUL: it is torn, or no text", in->path,
                        strlen(text) + 1);
    *root = cJSON_ParseWithOpts(text, &end, true);
    if (*root != NULL) return CNN_OK;
    const bool torn = end == NULL || *end == '\0';
    return CNN_FAIL(err, CNN_BAD_FORMAT, "%.400s:%d: %s", in->path, line_of(text, end != NULL ? end : text + size),
                    torn ? "the file ends in the middle: it is torn" : "this is no JSON");
}

static const struct {
    const char *by;
    bool (*is)(const cJSON *root);
    cnn_status (*read)(const importing *in, cnn_error *err);
} programs[] = {{"hyperfine", hyperfine_is, hyperfine_read},
                {"nvbench", nvbench_is, nvbench_read},
                {"Google Benchmark", google_is, google_read}};

static cnn_status read_root(importing *in, const cJSON *root, cnn_error *err)
{
    in->root = root;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (!programs[i].is(root)) continue;
        in->set->by = programs[i].by;
        const cnn_status status = programs[i].read(in, err);
        if (status != CNN_OK || in->set->count > 0) return status;
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%.400s holds no timing of %s", in->path, programs[i].by);
    }
    return CNN_FAIL(err, CNN_BAD_FORMAT,
                    "%.400s is neither of hyperfine (--export-json) nor of Google Benchmark (--benchmark_format=json) "
                    "nor of nvbench (--json)",
                    in->path);
}

cnn_status import_read(const char *path, import_set *set, cnn_error *err)
{
    const char *slash = strrchr(path, '/');
    importing in = {.path = path, .name = slash != NULL ? slash + 1 : path, .set = set};
    cJSON *root = NULL;
    char *text;
    size_t size;
    *set = (import_set){.by = ""};
    cnn_status status = read_all(path, &text, &size, err);
    if (status == CNN_OK) {
        snprintf(set->id, sizeof set->id, "%08lx-%zx", crc32(0, (const Bytef *)text, (uInt)size), size);
        status = parse(&in, text, size, &root, err);
    }
    if (status == CNN_OK) status = read_root(&in, root, err);
    if (status != CNN_OK) import_free(set);
    cJSON_Delete(root);
    free(text);
    return status;
}

void import_free(import_set *set)
{
    for (int i = 0; i < set->count; i++) record_free(set->list[i]);
    free(set->list);
    *set = (import_set){.by = ""};
}
