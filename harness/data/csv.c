/* csv.c: images as lines of comma-separated numbers, as Karv's program reads them and as MNIST is passed around. */
#include "data_parts.h"
#include "harness/base/input.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A file on its way in. */
typedef struct csv_file {
    const char *path;
    int64_t line, room;       /* lines read; images that there is room for */
    int64_t pixels, first, n; /* a line's pixels, its first target column, how many of these */
    dataset_part *part;
} csv_file;

static bool is_csv(const char *name, size_t length) { return length > 4 && strncmp(name + length - 4, ".csv", 4) == 0; }

bool csv_named(const char *what)
{
    const size_t first = strcspn(what, ",");
    return is_csv(what, first) && (what[first] == '\0' || is_csv(what + first + 1, strlen(what + first + 1)));
}

/* ---- A line */

/* The number at *at, which is moved behind the comma that follows; -1 and a sentence: there is none of 0 to 255. */
static int take_number(const csv_file *f, char **at, int64_t column, cnn_error *err)
{
    char *end;
    const long value = strtol(*at, &end, 10);
    while (*end == ' ' || *end == '\r' || *end == '\n') end++;
    if (end == *at || (*end != ',' && *end != '\0') || value < 0 || value > 255) {
        CNN_FAIL(err, CNN_BAD_FORMAT, "%.300s:%lld: column %lld is '%.*s': expected a whole number from 0 to 255",
                 f->path, (long long)f->line, (long long)column + 1, (int)strcspn(*at, ",\r\n"), *at);
        return -1;
    }
    *at = *end == ',' ? end + 1 : end;
    return (int)value;
}

static int64_t count_columns(const char *line)
{
    int64_t columns = 1;
    for (; *line != '\0'; line++) columns += *line == ',';
    return columns;
}

static cnn_status grow(csv_file *f, cnn_error *err)
{
    const int64_t room = f->room == 0 ? 1024 : 2 * f->room;
    uint8_t *images = room <= INT32_MAX ? realloc(f->part->images, (size_t)(room * f->pixels)) : NULL;
    if (images != NULL) f->part->images = images;
    int32_t *labels = images != NULL ? realloc(f->part->labels, (size_t)room * sizeof *labels) : NULL;
    if (labels == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%.300s: no memory for its images", f->path);
    f->part->labels = labels;
    f->room = room;
    return CNN_OK;
}

/* What the target columns say: a class, or the one that is 1. */
static cnn_status take_label(const csv_file *f, const int *targets, int32_t *label, cnn_error *err)
{
    int ones = 0;
    *label = f->n == 1 ? targets[0] : 0;
    for (int64_t k = 0; k < f->n && f->n > 1; k++) {
        if (targets[k] > 1) ones = 2;
        if (targets[k] == 1) ones++, *label = (int32_t)k;
    }
    if (f->n > 1 && ones != 1)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%.300s:%lld: of its %lld target columns not one is 1 and the others 0",
                        f->path, (long long)f->line, (long long)f->n);
    if (*label < DATASET_CLASSES) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_FORMAT, "%.300s:%lld: the target is %d: expected a class from 0 to %d", f->path,
                    (long long)f->line, *label, DATASET_CLASSES - 1);
}

static cnn_status take_line(csv_file *f, char *line, cnn_error *err)
{
    const int64_t columns = count_columns(line);
    int targets[DATASET_CLASSES];
    if (columns != f->pixels + f->n)
        return CNN_FAIL(err, CNN_BAD_FORMAT,
                        "%.300s:%lld: %lld columns: expected %lld, a target of %lld and %lld pixels", f->path,
                        (long long)f->line, (long long)columns, (long long)(f->pixels + f->n), (long long)f->n,
                        (long long)f->pixels);
    if (f->part->count == f->room && grow(f, err) != CNN_OK) return err->status;
    uint8_t *image = f->part->images + f->part->count * f->pixels;
    for (int64_t c = 0; c < columns; c++) {
        const int value = take_number(f, &line, c, err);
        if (value < 0) return err->status;
        if (c >= f->first && c < f->first + f->n)
            targets[c - f->first] = value;
        else
            *image++ = (uint8_t)value;
    }
    const cnn_status status = take_label(f, targets, &f->part->labels[f->part->count], err);
    f->part->count += status == CNN_OK;
    return status;
}

/* ---- Files */

/* The first line that has numbers says how many pixels there are, unless the network did. */
static cnn_status find_shape(csv_file *f, dataset *data, const char *line, cnn_error *err)
{
    int64_t side = 1;
    if (data->c == 0) {
        f->pixels = count_columns(line) - f->n;
        while (side * side < f->pixels) side++;
        const bool square = side * side == f->pixels;
        data->c = 1, data->h = square ? side : 1, data->w = square ? side : f->pixels;
    }
    if (f->pixels > 0) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_FORMAT, "%.300s:%lld: no column is left for a pixel", f->path, (long long)f->line);
}

static bool is_heading(const csv_file *f, const char *line)
{
    while (*line == ' ') line++;
    return f->line == 1 && !isdigit((unsigned char)*line) && *line != '-' && *line != '+';
}

static cnn_status read_lines(csv_file *f, dataset *data, FILE *file, cnn_error *err)
{
    char *line = NULL;
    size_t capacity = 0;
    cnn_status status = CNN_OK;
    ssize_t length;
    while (status == CNN_OK && (length = input_line(&line, &capacity, file)) >= 0) {
        f->line++;
        if (strspn(line, " \r\n") == (size_t)length || is_heading(f, line)) continue;
        if ((size_t)length != strlen(line))
            status = CNN_FAIL(err, CNN_BAD_FORMAT, "%.300s:%lld: is not text", f->path, (long long)f->line);
        if (status == CNN_OK) status = find_shape(f, data, line, err);
        if (status == CNN_OK) status = take_line(f, line, err);
    }
    if (status == CNN_OK && !feof(file))
        status = CNN_FAIL(err, CNN_IO, "%.300s: cannot be read: %s", f->path, input_line_why());
    if (status == CNN_OK && f->part->count == 0)
        status = CNN_FAIL(err, CNN_BAD_FORMAT, "%.300s: holds no image", f->path);
    free(line);
    return status;
}

static cnn_status read_file(const char *path, const dataset_params *p, dataset *data, dataset_part *part,
                            cnn_error *err)
{
    csv_file f = {.path = path,
                  .pixels = data->c * data->h * data->w,
                  .first = p->targets[0],
                  .n = p->targets[1] - p->targets[0] + 1,
                  .part = part};
    const char *why;
    if (f.n < 1 || f.first < 0 || f.n > DATASET_CLASSES)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "targets in columns %lld to %lld: 1 to %d columns can be a target",
                        (long long)p->targets[0], (long long)p->targets[1], DATASET_CLASSES);
    FILE *file = input_stream(path, &why);
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "%.300s: cannot be opened: %s", path, why);
    const cnn_status status = read_lines(&f, data, file, err);
    fclose(file);
    return status;
}

/* The last seventh, as MNIST has it: 10,000 of 70,000. */
static cnn_status split(dataset *data, const char *path, cnn_error *err)
{
    dataset_part *train = &data->train, *test = &data->test;
    const int64_t pixels = data->c * data->h * data->w;
    test->count = train->count / 7;
    train->count -= test->count;
    if (test->count == 0)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%.300s: too few images to test on some: give FILE.csv,TEST.csv", path);
    test->images = malloc((size_t)(test->count * pixels));
    test->labels = malloc((size_t)test->count * sizeof *test->labels);
    if (test->images == NULL || test->labels == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%.300s: no memory for its images", path);
    memcpy(test->images, train->images + train->count * pixels, (size_t)(test->count * pixels));
    memcpy(test->labels, train->labels + train->count, (size_t)test->count * sizeof *test->labels);
    return CNN_OK;
}

cnn_status csv_read(const char *what, const dataset_params *params, dataset *data, cnn_error *err)
{
    char path[DATASET_PATH_MAX];
    const size_t first = strcspn(what, ",");
    const char *second = what[first] == ',' ? what + first + 1 : NULL;
    memset(data, 0, sizeof *data);
    if (first >= sizeof path) return CNN_FAIL(err, CNN_IO, "%.64s...: the path is too long", what);
    snprintf(path, sizeof path, "%.*s", (int)first, what);
    data->classes = DATASET_CLASSES;
    data->preprocess = params->preprocess;
    data->c = params->c, data->h = params->h, data->w = params->w;
    snprintf(data->name, sizeof data->name, "%.*s", CNN_NAME_MAX - 1, what);
    snprintf(data->source, sizeof data->source, "CSV files %.900s", what);
    cnn_status status = read_file(path, params, data, &data->train, err);
    if (status == CNN_OK)
        status = second != NULL ? read_file(second, params, data, &data->test, err) : split(data, path, err);
    return dataset_finish(status, what, params, data, err);
}
