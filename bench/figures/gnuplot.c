/* gnuplot.c: the child process, what it reads, its complaints, and whether its pictures are whole. */
#include "gnuplot.h"

#include "harness/base/text.h"
#include "harness/problem/find_file.h"
#include "harness/process/program.h"
#include "mark.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { SVG, PNG, FORMATS };
static const struct {
    const char *name, *end; /* end: the last bytes of a whole file */
} formats[FORMATS] = {{"svg", "</svg>"}, {"png", "IEND\xae\x42\x60\x82"}};

cnn_status plot_file(const char *name, char path[FOUND_PATH_MAX], cnn_error *err)
{
    static const file_kind kind = {"file of plots", "plots", ""};
    if (cnn_find_own(&kind, name, path)) return CNN_OK;
    return CNN_FAIL(err, CNN_IO, "cannot find plots/%s: neither here nor where benchcnn was built or installed", name);
}

/* A quote is put in from outside, by its number: doubled, as its manual says, gnuplot 5.4 takes it for the end where
 * the text begins with it; as itself, the search for @macros takes it for an end. */
void gnuplot_text(FILE *to, const char *name, int index, const char *text)
{
    int brackets = 0;
    bool number = false;
    fputs(name, to);
    if (index >= 0) fprintf(to, "%d", index);
    fputs("='", to);
    while (*text) { /* a line end would end the command, too */
        char shown[CNN_SHOWN_MAX];
        /* XML forbids "]]>" within a text, and "&#" is a character's number there: gnuplot writes both as they are. */
        if ((*text == '>' && brackets >= 2) || (*text == '#' && number)) fputc(' ', to);
        brackets = *text == ']' ? brackets + 1 : 0;
        number = *text == '&';
        text += cnn_show_character(text, shown);
        for (const char *at = shown; *at != '\0'; at++) fprintf(to, *at == '\'' ? "'.\"\\047\".'" : "%c", *at);
    }
    fputs("'\n", to);
}

/* Its complaint begins with the script's line and a caret. */
static cnn_status run(FILE *input, FILE *output, const char *script, cnn_error *err)
{
    char reason[CNN_MESSAGE_MAX / 2];
    FILE *log = program_file("a plot", err);
    if (!log) return err->status;
    if (fflush(input) != 0 || ferror(input)) {
        fclose(log);
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the data of a plot");
    }
    rewind(input);
    const int code = program_run((const char *const[]){"gnuplot", NULL}, input, output ? output : log, log),
              why = errno;
    program_last_line(log, reason, sizeof reason);
    fclose(log);
    if (code == 0) return CNN_OK;
    if (code == -1 && why == ENOENT)
        return CNN_FAIL(err, CNN_UNAVAILABLE,
                        "gnuplot is not installed, and plots are drawn with it (Debian, Ubuntu: apt-get install "
                        "gnuplot-nox)");
    if (code == -1) return CNN_FAIL(err, CNN_INTERNAL, "cannot start gnuplot: %s", strerror(why));
    return CNN_FAIL(err, CNN_INTERNAL, "gnuplot failed on %s: %s", script, reason);
}

/* gnuplot ends well on a full disk, too: a picture is whole when its end is there. */
static bool is_whole(const char *path, const char *end)
{
    const size_t length = strlen(end);
    char tail[64] = "";
    size_t got = 0;
    FILE *file = fopen(path, "re");
    if (!file) return false;
    if (fseek(file, -(long)(length + 4), SEEK_END) == 0) got = fread(tail, 1, length + 4, file);
    fclose(file);
    while (got > 0 && strchr(" \r\n", tail[got - 1])) got--;
    return got >= length && memcmp(tail + got - length, end, length) == 0;
}

/* gnuplot's own complaint about a bad path is hard to read. */
static cnn_status add_format(FILE *input, const char *script, const char *format, const char *part, cnn_error *err)
{
    FILE *probe = fopen(part, "we");
    if (!probe) return CNN_FAIL(err, CNN_IO, "cannot write %s: %s", part, strerror(errno));
    fclose(probe);
    gnuplot_text(input, "format", -1, format);
    gnuplot_text(input, "out", -1, part);
    gnuplot_text(input, "script", -1, script);
    fputs("load script\nset output\nreset\n", input);
    return CNN_OK;
}

/* Of the data, which are all that `input` has so far, and of the scripts. */
static cnn_status mark_drawn(FILE *input, const char *const scripts[2], char mark[MARK_SIZE], cnn_error *err)
{
    FILE *files[3] = {input};
    cnn_status status = CNN_OK;
    for (int i = 0; i < 2 && status == CNN_OK; i++) {
        files[i + 1] = fopen(scripts[i], "re");
        if (!files[i + 1]) status = CNN_FAIL(err, CNN_IO, "cannot read %s: %s", scripts[i], strerror(errno));
    }
    if (status == CNN_OK) status = mark_of(files, 3, mark, err);
    for (int i = 1; i < 3; i++)
        if (files[i]) fclose(files[i]);
    fseek(input, 0, SEEK_END);
    return status;
}

/* What every picture begins with: its settings and data; and the mark of these. *input is to be closed, whatever comes
 * of it. */
static cnn_status begin(const char *script, char path[FOUND_PATH_MAX], gnuplot_put *put, void *user, FILE **input,
                        char mark[MARK_SIZE], cnn_error *err)
{
    char common[FOUND_PATH_MAX];
    *input = program_file("a plot", err);
    cnn_status status = *input ? plot_file(script, path, err) : err->status;
    if (status == CNN_OK) status = plot_file("common.gp", common, err);
    if (status == CNN_OK) status = put(*input, user, err);
    if (status == CNN_OK) status = mark_drawn(*input, (const char *const[]){path, common}, mark, err);
    if (status == CNN_OK) gnuplot_text(*input, "common", -1, common);
    return status;
}

cnn_status gnuplot_svg(const char *script, FILE *svg, gnuplot_put *put, void *user, cnn_error *err)
{
    char path[FOUND_PATH_MAX], mark[MARK_SIZE];
    FILE *input = NULL;
    cnn_status status = begin(script, path, put, user, &input, mark, err);
    if (status == CNN_OK) {
        gnuplot_text(input, "format", -1, "svg");
        gnuplot_text(input, "out", -1, ""); /* standard output */
        gnuplot_text(input, "script", -1, path);
        fputs("load script\n", input);
        status = run(input, svg, script, err);
    }
    if (input) fclose(input);
    return status;
}

cnn_status gnuplot_draw(const char *script, const char *name, gnuplot_put *put, void *user, cnn_error *err)
{
    char path[FOUND_PATH_MAX], parts[FORMATS][PLOT_PATH_MAX], mark[MARK_SIZE];
    FILE *input = NULL;
    cnn_status status = begin(script, path, put, user, &input, mark, err);
    for (int i = 0; i < FORMATS; i++) {
        snprintf(parts[i], PLOT_PATH_MAX, "%s.part.%s", name, formats[i].name);
        if (status == CNN_OK) status = add_format(input, path, formats[i].name, parts[i], err);
    }
    if (status == CNN_OK) status = run(input, NULL, script, err);
    for (int i = 0; status == CNN_OK && i < FORMATS; i++)
        if (!is_whole(parts[i], formats[i].end) || mark_put(parts[i], i == PNG, mark, err) != CNN_OK)
            status = CNN_FAIL(err, CNN_IO, "gnuplot could not write %.300s.%s whole: is the disk full?", name,
                              formats[i].name);
    for (int i = 0; status == CNN_OK && i < FORMATS; i++) {
        snprintf(path, sizeof path, "%s.%s", name, formats[i].name);
        if (rename(parts[i], path) != 0) status = CNN_FAIL(err, CNN_IO, "cannot write %s: %s", path, strerror(errno));
    }
    for (int i = 0; status != CNN_OK && i < FORMATS; i++) unlink(parts[i]);
    if (input) fclose(input);
    return status;
}

cnn_status gnuplot_shows(const char *script, const char *name, gnuplot_put *put, void *user, bool shows[2],
                         cnn_error *err)
{
    char path[FOUND_PATH_MAX], mark[MARK_SIZE];
    FILE *input = NULL;
    const cnn_status status = begin(script, path, put, user, &input, mark, err);
    for (int i = 0; status == CNN_OK && i < FORMATS; i++) {
        snprintf(path, sizeof path, "%s.%s", name, formats[i].name);
        shows[i] = mark_stands(path, mark);
    }
    if (input) fclose(input);
    return status;
}
