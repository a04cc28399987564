/* shared.c: what several commands make of their options. */
#include "cli.h"
#include "harness/base/text.h"
#include "harness/cpu/threads.h"
#include "harness/problem/names.h"
#include "harness/record/record_keeper.h"
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

cnn_status cli_types(const cli_options *options, cli_type_set *set, cnn_error *err)
{
    const int math = cnn_name_find(&cnn_math_names, options->math, err);
    const uint32_t dtypes = math < 0 ? 0 : cnn_name_mask(&cnn_dtype_names, options->dtype, err);
    const uint32_t layouts = dtypes == 0 ? 0 : cnn_name_mask(&cnn_layout_names, options->layout, err);
    set->count = 0;
    for (int d = 0; d < CNN_DTYPE_COUNT; d++)
        for (int l = 0; l < CNN_LAYOUT_COUNT; l++)
            if (dtypes >> d & layouts >> l & 1u)
                set->types[set->count++] = (cnn_type){(cnn_dtype)d, (cnn_dtype)d, (cnn_layout)l, (cnn_math)math};
    return layouts == 0 ? err->status : CNN_OK;
}

uint32_t cli_dirs(const cli_options *options, cnn_error *err)
{
    static const char *const names[] = {"FWD", "BWD_D", "BWD_W", "BWD"};
    static const cnn_name_set with_both = {"direction", names, 4};
    const uint32_t mask = cnn_name_mask(&with_both, options->dir, err);
    return (mask & 8u ? mask | 1u << CNN_BWD_D | 1u << CNN_BWD_W : mask) & 7u;
}

uint32_t cli_ops(const cli_options *options, cnn_error *err)
{
    return options->op == NULL ? 1u << CNN_OP_CONV : cnn_name_mask(&cnn_op_names, options->op, err);
}

static bool holds(const int64_t *list, int count, int64_t value)
{
    for (int i = 0; i < count; i++)
        if (list[i] == value) return true;
    return false;
}

cnn_status cli_ints(const char *option, const char *text, int64_t min, int64_t max, int64_t *list, int capacity,
                    int *count, cnn_error *err)
{
    const char *at = text;
    *count = 0;
    do {
        char *end;
        errno = 0;
        const long long value = strtoll(at, &end, 10);
        if (end == at || (*end != ',' && *end != '\0') || errno == ERANGE)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s: '%.64s' is no whole number", option, at);
        if (value < min || value > max)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s is %lld, but must be from %lld to %lld", option, value,
                            (long long)min, (long long)max);
        if (!holds(list, *count, value)) {
            if (*count == capacity)
                return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s takes at most %d number%s", option, capacity,
                                capacity == 1 ? "" : "s");
            list[(*count)++] = value;
        }
        at = *end == ',' ? end + 1 : NULL;
    } while (at != NULL);
    return CNN_OK;
}

cnn_session_params cli_session_params(const cli_options *options)
{
    return (cnn_session_params){.threads = options->threads > 0 ? (int)options->threads : cpu_count(),
                                .device = (int)options->device,
                                .settings = options->set.items,
                                .n_settings = options->set.count};
}

void cli_append_option(char *command, size_t size, const char *name, const char *word)
{
    cnn_append(command, size, " --%s ", name);
    cnn_append_quoted(command, size, word);
}

void cli_say_bad_lines(const char *path, int bad)
{
    if (bad == 0) return;
    table_put(stderr, "benchcnn: %s: %d line%s no record (a run that was killed?), passed over\n", path, bad,
              bad == 1 ? " is" : "s are");
}

void cli_say_other_build(const char *path)
{
    fprintf(stderr,
            "%s holds points that another build of benchcnn measured, or this one with other libraries or another "
            "driver: they are measured again\n",
            path);
}

bool cli_same_file(const char *a, const char *b)
{
    struct stat first, second;
    if (stat(a, &first) != 0) return strcmp(a, b) == 0;
    return S_ISREG(first.st_mode) && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

cnn_status cli_keep_apart(const char *path, const char *other_option, const char *other, cnn_error *err)
{
    if (path == NULL || other == NULL || !cli_same_file(path, other)) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--out %.180s would spoil %s %.180s: they are one file", path, other_option,
                    other);
}

static void say_of_file(const char *path, const record_sink *sink)
{
    if (record_sink_cut(sink) > 0)
        fprintf(stderr,
                "benchcnn: %s ended in half a record (a run that was killed, or a full disk): cut off, %lld bytes\n",
                path, (long long)record_sink_cut(sink));
    if (record_sink_unlocked(sink) != 0)
        fprintf(stderr, "benchcnn: %s lies where files cannot be locked (%s): let no other command write to it\n", path,
                strerror(record_sink_unlocked(sink)));
}

static FILE *cli_records(const cli_options *o) { return o->records != NULL ? o->records : o->json ? stdout : NULL; }

/* A rank's records go to rank 0 (options->records). */
static cnn_status open_sink(const cli_options *o, const record_kept *what, record_sink **sink, cnn_error *err)
{
    if (o->keeper != NULL && o->records == NULL) return record_sink_keep(o->keeper, what, sink, err);
    return what->shared ? record_sink_share(what->path, sink, err)
                        : record_sink_open(what->path, cli_records(o), sink, err);
}

cnn_status cli_sink_open(const cli_options *o, record_sink **sink, cnn_error *err)
{
    const cnn_status status = open_sink(o, &(record_kept){.path = o->out, .json = o->json}, sink, err);
    if (status == CNN_OK) say_of_file(o->out, *sink);
    return status;
}

cnn_status cli_sink_json(const cli_options *o, record_sink **sink, cnn_error *err)
{
    return open_sink(o, &(record_kept){.json = o->json}, sink, err);
}

cnn_status cli_sink_share(const cli_options *o, const char *path, record_sink **sink, cnn_error *err)
{
    const cnn_status status = open_sink(o, &(record_kept){.path = path, .shared = true}, sink, err);
    if (status == CNN_OK) say_of_file(path, *sink);
    return status;
}
