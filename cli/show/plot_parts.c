/* plot_parts.c: files for gnuplot, and the pictures it makes of them. */
#include "plot_parts.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

FILE *plot_create(const char *folder, const char *name, cnn_error *err)
{
    char path[PATH_SIZE + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    if (!file) CNN_FAIL(err, CNN_IO, "cannot write %s: %s", path, strerror(errno));
    return file;
}

cnn_status plot_close(FILE *file, const char *folder, cnn_error *err)
{
    bool failed = ferror(file) != 0;
    if (fclose(file) == 0 && !failed) return CNN_OK;
    return CNN_FAIL(err, CNN_IO, "cannot write into %s: %s", folder, strerror(errno));
}

void plot_name(const cli_options *options, const char *file, char *name, size_t size)
{
    static const char *const endings[] = {".svg", ".png", ".jsonl", ".json"};
    snprintf(name, size, "%s", options->out ? options->out : file);
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending = strlen(endings[i]);
        if (length <= ending || strcmp(name + length - ending, endings[i]) != 0) continue;
        name[length - ending] = '\0';
        return;
    }
}

void plot_set_text(char settings[SETTINGS_SIZE], const char *name, int i, const char *text)
{
    char whole[32];
    snprintf(whole, sizeof whole, "%s%d", name, i);
    gnuplot_set_text(settings, SETTINGS_SIZE, whole, text);
}

void plot_set_real(char settings[SETTINGS_SIZE], const char *name, int i, double value)
{
    char whole[32];
    snprintf(whole, sizeof whole, "%s%d", name, i);
    gnuplot_set_real(settings, SETTINGS_SIZE, whole, value);
}

/* gnuplot ends well on a full disk, too: a picture is whole when its end is there. */
static cnn_status check_whole(const char *part, const char *path, const char *format, cnn_error *err)
{
    static const char svg[] = "</svg>", png[] = "IEND\xae\x42\x60\x82"; /* the last chunk's name and checksum */
    const char *end = strcmp(format, "svg") == 0 ? svg : png;
    const size_t length = strlen(end);
    char tail[64] = "";
    size_t got = 0;
    FILE *file = fopen(part, "re");
    if (file) {
        if (fseek(file, -(long)(length + 4), SEEK_END) == 0) got = fread(tail, 1, length + 4, file);
        fclose(file);
    }
    while (got > 0 && strchr(" \r\n", tail[got - 1])) got--;
    if (got >= length && memcmp(tail + got - length, end, length) == 0) return CNN_OK;
    return CNN_FAIL(err, CNN_IO, "gnuplot could not write %.300s whole: is the disk full?", path);
}

/* gnuplot writes beside the picture's place and is renamed into it, so that a failure leaves an older picture whole. */
static cnn_status draw(const char *common, const char *script, const char *folder, const char *name, const char *format,
                       cnn_error *err)
{
    char settings[SETTINGS_SIZE + 2 * PATH_SIZE], part[PATH_SIZE], path[PATH_SIZE];
    snprintf(part, sizeof part, "%s.part.%s", name, format);
    snprintf(path, sizeof path, "%s.%s", name, format);
    FILE *probe = fopen(part, "we"); /* gnuplot's own complaint about a bad path is hard to read */
    if (!probe) return CNN_FAIL(err, CNN_IO, "cannot write %s: %s", path, strerror(errno));
    fclose(probe);
    snprintf(settings, sizeof settings, "%s", common);
    gnuplot_set_text(settings, (int)sizeof settings, "format", format);
    gnuplot_set_text(settings, (int)sizeof settings, "out", part);
    cnn_status status = gnuplot_run(settings, script, folder, err);
    if (status == CNN_OK) status = check_whole(part, path, format, err);
    if (status == CNN_OK && rename(part, path) != 0)
        status = CNN_FAIL(err, CNN_IO, "cannot write %s: %s", path, strerror(errno));
    if (status != CNN_OK)
        unlink(part);
    else
        printf("%s\n", path);
    return status;
}

/* An older picture is replaced, anything else is not: records may well be named x.png. */
static cnn_status check_replaced(const char *name, cnn_error *err)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s.svg", name);
    cnn_status status = cli_check_replaced(path, "SVG picture", "<?xml", err);
    snprintf(path, sizeof path, "%s.png", name);
    return status == CNN_OK ? cli_check_replaced(path, "PNG picture", "\x89PNG", err) : status;
}

cnn_status plot_draw(const char *settings, const char *script, const char *folder, const char *name, cnn_error *err)
{
    cnn_status status = check_replaced(name, err);
    if (status == CNN_OK) status = draw(settings, script, folder, name, "svg", err);
    return status == CNN_OK ? draw(settings, script, folder, name, "png", err) : status;
}
