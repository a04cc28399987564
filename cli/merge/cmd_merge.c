/* cmd_merge.c: `benchcnn merge FILE... --out FILE`: the records of several files, as shards write them, in one. Each
 * line is kept as it is. What is there twice is dropped; what contradicts itself, or is missing, is named, and the
 * status is 1. */
#include "parts.h"

#include "cli/table.h"
#include "harness/base/replace.h"

#include <stdlib.h>
#include <unistd.h>

static const char what[] = "merged file";

cnn_status args_merge(const cli_options *o, cnn_error *err)
{
    if (o->out == NULL)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "merge needs --out FILE, a new file for the records of all");
    if (access(o->out, F_OK) == 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--out %.300s is there already: merge writes a new file, name another",
                        o->out);
    return cnn_replace_check(what, o->out, err);
}

/* A run that was killed leaves half a line. */
static void say_bad(void *user, int line, const char *text)
{
    enum { SAID = 10 };
    merge_run *m = user;
    (void)text;
    if (m->bad++ < SAID)
        table_put(stderr, "benchcnn: %s:%d: no record (a run that was killed?), passed over\n", m->path, line);
    else if (m->bad == SAID + 1)
        table_put(stderr, "benchcnn: %s: more lines are no records, passed over\n", m->path);
}

static cnn_status read_files(merge_run *m, cnn_error *err)
{
    const cli_list *files = &m->options->words;
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < files->count; i++) {
        m->path = files->items[i];
        m->file_records = m->bad = 0;
        status = record_read_lines(m->path, merge_take, say_bad, m, err);
        if (status == CNN_OK) status = merge_end_file(m, err);
        if (status == CNN_OK && m->file_records == 0) table_put(stderr, "benchcnn: %s holds no records\n", m->path);
    }
    return status;
}

/* The exit status. */
static int print(const merge_run *m)
{
    merge_print_environments(m);
    merge_print_groups(m);
    const int incomplete = merge_print_missing(m);
    printf("%d file%s, %lld records: %lld in %s, %lld exact duplicate%s dropped", m->options->words.count,
           m->options->words.count == 1 ? "" : "s", (long long)m->read, (long long)m->written, m->options->out,
           (long long)m->duplicates, m->duplicates == 1 ? "" : "s");
    if (m->differ > 0) printf("; %lld differ", (long long)m->differ);
    if (incomplete > 0) printf("; %d command%s incomplete", incomplete, incomplete == 1 ? " is" : "s are");
    putchar('\n');
    return m->differ > 0 || incomplete > 0 ? EXIT_FAILED : EXIT_HELD;
}

int cmd_merge(const cli_options *options, cnn_error *err)
{
    merge_run m = {.options = options, .group = -1, .environment = -1};
    char *bytes = NULL;
    size_t size = 0;
    int result = EXIT_NOTHING;
    m.text = open_memstream(&bytes, &size);
    cnn_status status = m.text ? read_files(&m, err) : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to merge records");
    if (m.text && fclose(m.text) != 0 && status == CNN_OK)
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to merge records");
    if (status == CNN_OK && m.written == 0)
        fprintf(stderr, "benchcnn: there is no record to merge, and %s is not written\n", options->out);
    if (status == CNN_OK && m.written > 0)
        status = cnn_replace_file(what, options->out, &(file_piece){bytes, size}, 1, err);
    if (status == CNN_OK && m.written > 0) result = print(&m);
    free(bytes);
    merge_free(&m);
    return status == CNN_OK ? result : cli_fail(err);
}
