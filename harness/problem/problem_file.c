/* problem_file.c: files of problems: their lines and words, the files that they name, and whose lines they are. */
#include "find_file.h"
#include "foreign.h"
#include "harness/base/input.h"
#include "harness/base/text.h"
#include "harness/cnn/shape.h"
#include "op.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_MAX = 128, NESTED_MAX = 8 };

struct problem_reader {
    cnn_op op;
    bool op_given;
    const cnn_problem_defaults *defaults;
    cnn_problem_each *each;
    void *user;
    char where[PLACE_MAX]; /* FILE:LINE; nothing: a text of its own */
    int nested;
    benchdnn options;
};

/* ---- What all readers of other programs' lines need. */

void foreign_letters(const desc_dims *dims, char text[CNN_PROBLEM_TEXT_MAX])
{
    const struct {
        char letter;
        const dims_axis *axis;
    } axes[] = {{'d', &dims->depth}, {'h', &dims->height}, {'w', &dims->width}};
    if (dims->g > 1) op_put_number(text, "g", dims->g);
    op_put_number(text, "mb", dims->mb);
    if (dims->ic > 0) op_put_number(text, "ic", dims->ic);
    if (dims->oc > 0) op_put_number(text, "oc", dims->oc);
    for (int i = 0; i < 3; i++) {
        const dims_axis *a = axes[i].axis;
        const char letters[] = {'i', 'o', 'k', 's', 'p', 'd'};
        const int64_t values[] = {a->i, a->o, a->k, a->s, a->p, a->d};
        for (int v = 0; v < 6; v++)
            if (a->i > 0 && values[v] >= (v < 4 ? 1 : 0))
                op_put(text, "%c%c%lld", letters[v], axes[i].letter, (long long)values[v]);
    }
    if (dims->name[0] != '\0') op_put(text, "n\"%s\"", dims->name);
}

void foreign_type(problem_words *words, cnn_dtype dtype, cnn_layout layout)
{
    words->said.dtype = dtype != CNN_DTYPE_COUNT;
    words->said.layout = layout != CNN_LAYOUT_COUNT;
    if (words->said.dtype) words->type.dtype = words->type.weights = dtype;
    if (words->said.layout) words->type.layout = layout;
}

int foreign_numbers(const char *text, char separator, int64_t *numbers, int capacity, const char **end)
{
    int count = 0;
    *end = text;
    while (isdigit((unsigned char)*text)) {
        char *after;
        if (count == capacity) return 0;
        numbers[count++] = strtoll(text, &after, 10);
        *end = after;
        if (*after != separator) break;
        text = after + 1;
        while (*text == ' ') text++;
    }
    return count;
}

/* ---- What comes of a word. */

static cnn_status refuse(problem_reader *r, const char *shown, cnn_op op, cnn_error *err)
{
    const cnn_problem_said nothing = {.dirs = 0};
    if (r->where[0] != '\0') cnn_error_before(err, err->status, "%s: ", r->where);
    return r->each(r->user, shown, op, &nothing, NULL, err);
}

cnn_status problem_refuse(problem_reader *r, const char *shown, const char *why, cnn_error *err)
{
    CNN_FAIL(err, CNN_BAD_FORMAT, "'%.200s' %s", shown, why);
    return refuse(r, shown, r->options.op, err);
}

cnn_status problem_give(problem_reader *r, const char *shown, const problem_words *words, cnn_error *err)
{
    cnn_problem_defaults defaults = *r->defaults;
    cnn_problem problem;
    if (words->why_not[0] != '\0') {
        CNN_FAIL(err, CNN_UNSUPPORTED, "%s", words->why_not);
        return refuse(r, shown, words->op, err);
    }
    if (r->op_given && words->op != r->op) {
        CNN_FAIL(err, CNN_BAD_ARGUMENT, "'%.200s' is of the operation %s, but --op is %s", shown,
                 cnn_op_name(words->op), cnn_op_name(r->op));
        return refuse(r, shown, words->op, err);
    }
    if (words->said.dtype) defaults.type.dtype = defaults.type.weights = words->type.dtype;
    if (words->said.layout) defaults.type.layout = words->type.layout;
    if (words->said.math) defaults.type.math = words->type.math;
    defaults.no_bias = defaults.no_bias || words->no_bias;
    defaults.flip = defaults.flip || words->flip;
    if (defaults.mb == 0) defaults.mb = words->mb;
    if (cnn_problem_parse(words->op, words->text, &defaults, &problem, err) != CNN_OK)
        return refuse(r, shown, words->op, err);
    if (words->said.dirs == 0 || words->said.dirs & cnn_op_dirs(&problem))
        return r->each(r->user, shown, words->op, &words->said, &problem, err);
    CNN_FAIL(err, CNN_UNSUPPORTED, "%s has not the direction that is asked for", cnn_op_name(words->op));
    return refuse(r, shown, words->op, err);
}

/* ---- Words of a line. */

/* The next word of a line: up to white space outside double quotes. Ends it in place; NULL at the end or a comment. */
static char *next_word(char **at)
{
    char *start = *at;
    while (isspace((unsigned char)*start)) start++;
    if (*start == '\0' || *start == '#') return NULL;
    char *end = start;
    for (bool quoted = false; *end != '\0' && (quoted || !isspace((unsigned char)*end)); end++)
        if (*end == '"') quoted = !quoted;
    *at = *end == '\0' ? end : end + 1;
    *end = '\0';
    return start;
}

static cnn_status read_file(problem_reader *r, const char *path, cnn_error *err);

/* --batch=FILE, which stands beside the file that names it. */
static cnn_status read_nested(problem_reader *r, const char *path, const char *word, cnn_error *err)
{
    char place[PLACE_MAX], name[FOUND_PATH_MAX];
    const char *slash = strrchr(path, '/'), *file = strchr(word, '=') + 1;
    if (r->nested == NESTED_MAX)
        return problem_refuse(r, word, "is a file in a file in a file ..., 8 deep: does one name itself?", err);
    snprintf(place, sizeof place, "%s", r->where);
    snprintf(name, sizeof name, "%.*s%.300s", slash == NULL ? 0 : (int)(slash - path) + 1, path, file);
    r->nested++;
    cnn_status status = read_file(r, name, err);
    r->nested--;
    snprintf(r->where, sizeof r->where, "%s", place);
    return status == CNN_IO ? refuse(r, word, r->options.op, err) : status;
}

static bool is_program(const char *word)
{
    const size_t length = strlen(word), tail = strlen("benchdnn");
    return length >= tail && strcmp(word + length - tail, "benchdnn") == 0;
}

static cnn_status read_words(problem_reader *r, const char *path, char *line, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (char *word; status == CNN_OK && (word = next_word(&line)) != NULL;)
        if (strncmp(word, "--batch=", 8) == 0)
            status = read_nested(r, path, word, err);
        else if (strncmp(word, "--", 2) == 0)
            status = benchdnn_option(&r->options, r, word, err);
        else if (!is_program(word))
            status = benchdnn_problems(&r->options, r, word, err);
    return status;
}

/* ---- Lines of a file. */

typedef enum { OWN, VERBOSE, MIOPEN, PYTORCH, GOOGLE, CUDNN } language;

static language language_of(const char *line)
{
    return onednn_verbose_is(line)     ? VERBOSE
           : miopen_is(line)           ? MIOPEN
           : cudnn_log_is(line)        ? CUDNN
           : google_benchmark_is(line) ? GOOGLE
           : pytorch_is(line)          ? PYTORCH
                                       : OWN;
}

typedef struct lines {
    cudnn_log log;
    google_benchmark columns;
    language language; /* of a log or a source: what else stands there is no problem */
} lines;

static cnn_status read_line(problem_reader *r, lines *l, const char *path, char *line, cnn_error *err)
{
    const language now = language_of(line);
    switch (now == PYTORCH && l->language != OWN ? OWN : now) {
    case VERBOSE:
        return onednn_verbose_read(r, line, err);
    case MIOPEN:
        return miopen_read(r, line, err);
    case PYTORCH:
        return pytorch_read(r, line, err);
    case GOOGLE:
        return google_benchmark_read(&l->columns, r, line, err);
    case CUDNN:
        return cudnn_log_read(&l->log, r, line, err);
    default:
        break;
    }
    if (l->language == CUDNN && l->log.open) return cudnn_log_read(&l->log, r, line, err);
    return l->language == OWN ? read_words(r, path, line, err) : CNN_OK;
}

/* Looks once at all of it: logs and sources have many lines that are about something else. */
static language look_ahead(FILE *file, char **line, size_t *capacity)
{
    language found = OWN;
    while (found == OWN && input_line(line, capacity, file) >= 0) {
        const language now = language_of(*line);
        if (now == VERBOSE || now == GOOGLE || now == CUDNN) found = now;
    }
    rewind(file);
    return found;
}

/* A line that ends in a backslash goes on behind the white space of the next one. */
static ssize_t whole_line(char **line, size_t *capacity, FILE *file, char **more, size_t *more_capacity, int *number)
{
    ssize_t length = input_line(line, capacity, file);
    while (length >= 0) {
        (*number)++;
        (*line)[strcspn(*line, "\r\n")] = '\0'; /* a name whose quote is missing ends with its line */
        size_t end = strlen(*line);
        const bool goes_on = end > 0 && (*line)[end - 1] == '\\' && (*line)[strspn(*line, " \t")] != '#';
        if (!goes_on || input_line(more, more_capacity, file) < 0) break;
        for (end--; end > 0 && isspace((unsigned char)(*line)[end - 1]);) end--;
        const char *rest = *more + strspn(*more, " \t");
        const size_t room = end + strlen(rest) + 1;
        char *joined = realloc(*line, room > *capacity ? room : *capacity);
        if (joined == NULL) return -1;
        *line = joined;
        if (room > *capacity) *capacity = room;
        memcpy(joined + end, rest, strlen(rest) + 1);
    }
    return length;
}

/* A file names its operation by the folder that it is in. */
static void take_folder(problem_reader *r, const char *path)
{
    char folder[64] = "";
    const char *file = strrchr(path, '/');
    if (file == NULL) return;
    const char *start = file;
    while (start > path && start[-1] != '/') start--;
    snprintf(folder, sizeof folder, "%.*s", (int)(file - start), start);
    benchdnn_driver(&r->options, folder);
}

/* FILE:LINE, for the front of a message: of a long path its end is kept, which says more than its beginning. */
static void place_text(const char *path, int number, char text[PLACE_MAX])
{
    const size_t length = strlen(path), room = PLACE_MAX - sizeof "...:2147483647";
    if (length <= room)
        snprintf(text, PLACE_MAX, "%s:%d", path, number);
    else
        snprintf(text, PLACE_MAX, "...%s:%d", path + length - room, number);
}

static cnn_status read_file(problem_reader *r, const char *path, cnn_error *err)
{
    cnn_status status = CNN_OK;
    char *line = NULL, *more = NULL;
    size_t capacity = 0, more_capacity = 0;
    const char *why;
    int number = 0;
    lines l = {.language = OWN};
    FILE *file = input_stream(path, &why);
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "cannot read problem file '%s': %s", path, why);

    l.language = look_ahead(file, &line, &capacity);
    if (l.language == OWN && r->nested == 0) take_folder(r, path);
    errno = 0;
    while (status == CNN_OK && whole_line(&line, &capacity, file, &more, &more_capacity, &number) >= 0) {
        place_text(path, number, r->where);
        status = read_line(r, &l, path, line, err);
    }
    if (status == CNN_OK && l.log.open) status = cudnn_log_read(&l.log, r, "", err);
    if (status == CNN_OK && !feof(file))
        status = CNN_FAIL(err, CNN_IO, "cannot read problem file '%s': %s", path, input_line_why());
    free(line);
    free(more);
    fclose(file);
    return status;
}

cnn_status cnn_problem_file(const char *name, cnn_op op, bool op_given, const cnn_problem_defaults *defaults,
                            cnn_problem_each *each, void *user, cnn_error *err)
{
    problem_reader r = {op, op_given, defaults, each, user, .options.op = op};
    char path[FOUND_PATH_MAX];
    if (cnn_find_file(&cnn_problem_files, name, path, err) != CNN_OK) return err->status;
    benchdnn_reset(&r.options);
    const cnn_status status = read_file(&r, path, err);
    benchdnn_close(&r.options);
    return status;
}

bool cnn_problem_line(const char *line, const cnn_problem_defaults *defaults, cnn_problem_each *each, void *user,
                      cnn_status *status, cnn_error *err)
{
    problem_reader r = {CNN_OP_CONV, false, defaults, each, user, .options.op = CNN_OP_CONV};
    const bool found = onednn_verbose_is(line) || miopen_is(line) || pytorch_is(line);
    if (onednn_verbose_is(line))
        *status = onednn_verbose_read(&r, line, err);
    else if (miopen_is(line))
        *status = miopen_read(&r, line, err);
    else if (found)
        *status = pytorch_read(&r, line, err);
    return found;
}
