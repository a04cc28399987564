/* cmd_report.c: `benchcnn report RECORDS... --out FILE.html`: a page that is shown to others. What it says is made in
 * bench/figures/page.h, its pictures are those of `plot`; report/page.py, of the distribution's Python with Jinja2,
 * lays it out. */
#include "bench/figures/page.h"
#include "harness/base/input.h"
#include "harness/base/replace.h"
#include "harness/problem/find_file.h"
#include "harness/process/program.h"
#include "parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NO_JINJA = 3 }; /* page.py's status where Python has no Jinja2 */
static const char begins[] = "<!DOCTYPE html>", ends[] = "</html>\n";

cnn_status args_report(const cli_options *o, cnn_error *err)
{
    cnn_status status = CNN_OK;
    if (o->out == NULL)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "report needs to know where the page goes: --out FILE.html");
    for (int i = 0; i < o->words.count && status == CNN_OK; i++)
        status = cli_keep_apart(o->out, "a file of records", o->words.items[i], err);
    return status == CNN_OK ? cli_keep_apart(o->out, "--against", o->against, err) : status;
}

static cnn_status gather(const cli_options *o, page *p, record_sink *to, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; i < o->words.count && status == CNN_OK; i++) {
        int bad = 0;
        if (!cnn_is_plain_file(o->words.items[i]))
            return CNN_FAIL(err, CNN_IO, "%.400s is no plain file, and report reads each several times",
                            o->words.items[i]);
        status = page_read(p, o->words.items[i], &bad, err);
        if (status == CNN_OK) cli_say_bad_lines(o->words.items[i], bad);
    }
    if (status == CNN_OK) status = page_write(p, to, err);
    if (status == CNN_OK) status = report_scaling(o, p, to, err);
    if (status == CNN_OK) status = report_pictures(o, p, to, err);
    for (int i = 0; i < o->words.count && status == CNN_OK && o->against != NULL; i++)
        status = report_compare(o->against, o->words.items[i], to, err);
    return status;
}

/* By the distribution's Python, or, where that has no Jinja2, by the one on the PATH. */
static cnn_status lay_out(const cli_options *o, FILE *input, FILE *output, cnn_error *err)
{
    static const file_kind kind = {"part of the report", "report", ""};
    const char *const pythons[] = {"/usr/bin/python3", "python3"}, *argv[CLI_LIST_MAX + 8] = {NULL, "-I", "-B"};
    char script[FOUND_PATH_MAX], reason[CNN_MESSAGE_MAX / 2] = "";
    int code = -1;
    FILE *log = program_file("a page", err);
    if (log == NULL) return err->status;
    bool found = cnn_find_own(&kind, "page.py", script);
    argv[3] = script;
    for (int i = 0; i < o->words.count; i++) argv[4 + i] = o->words.items[i];
    for (int i = 0; i < 2 && found && (code == -1 || code == NO_JINJA); i++) {
        argv[0] = pythons[i];
        rewind(input);
        code = program_run(argv, input, output, log);
    }
    program_last_line(log, reason, sizeof reason);
    fclose(log);
    if (!found)
        return CNN_FAIL(err, CNN_IO,
                        "cannot find report/page.py: neither here nor where benchcnn was built or installed");
    if (code == 0) return CNN_OK;
    if (code == NO_JINJA || code == -1)
        return CNN_FAIL(err, CNN_UNAVAILABLE,
                        "%s is not installed, and report writes its page with it (Debian, Ubuntu: apt-get install "
                        "python3-jinja2)",
                        code == -1 ? "Python 3" : "Jinja2, a library of Python 3,");
    return CNN_FAIL(err, CNN_INTERNAL, "report/page.py failed: %s", reason);
}

static cnn_status keep(const char *path, FILE *output, cnn_error *err)
{
    cnn_status status = CNN_OK;
    const long size = fseek(output, 0, SEEK_END) == 0 ? ftell(output) : -1;
    char *text = size > 0 ? malloc((size_t)size) : NULL;
    rewind(output);
    const size_t tail = sizeof ends - 1;
    if (text == NULL || fread(text, 1, (size_t)size, output) != (size_t)size || (size_t)size < tail ||
        memcmp(text + size - tail, ends, tail) != 0)
        status = CNN_FAIL(err, CNN_INTERNAL, "the page is not whole: it has %ld bytes", size);
    if (status == CNN_OK) {
        const file_piece piece = {text, (size_t)size};
        status = cnn_replace_file("page", path, &piece, 1, err);
    }
    if (status == CNN_OK) printf("%s\n", path);
    free(text);
    return status;
}

int cmd_report(const cli_options *options, cnn_error *err)
{
    page *p = NULL;
    record_sink *sink = NULL;
    FILE *output = NULL, *input = program_file("a page", err);
    cnn_status status = input != NULL ? cnn_check_replaced(options->out, "HTML page", begins, err) : err->status;
    if (status == CNN_OK) status = cnn_replace_check("page", options->out, err);
    if (status == CNN_OK) status = page_open(&p, err);
    if (status == CNN_OK) status = record_sink_open(NULL, input, &sink, err);
    if (status == CNN_OK) status = gather(options, p, sink, err);
    page_close(p);
    record_sink_close(sink);
    if (status == CNN_OK && (output = program_file("a page", err)) == NULL) status = err->status;
    if (status == CNN_OK) status = lay_out(options, input, output, err);
    if (status == CNN_OK) status = keep(options->out, output, err);
    if (input != NULL) fclose(input);
    if (output != NULL) fclose(output);
    return status == CNN_OK ? EXIT_HELD : cli_fail(err);
}
