/* draw.c: a picture is drawn, or looked at: does it show what it would if it were drawn now? */
#include "draw.h"

#include "harness/base/input.h"

#include <string.h>
#include <unistd.h>

void plot_name(const cli_options *options, const char *file, char name[PLOT_PATH_MAX])
{
    static const char *const endings[] = {".svg", ".png", ".jsonl", ".json"};
    snprintf(name, PLOT_PATH_MAX, "%s", options->out ? options->out : file);
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t ending = strlen(endings[i]);
        if (length <= ending || strcmp(name + length - ending, endings[i]) != 0) continue;
        name[length - ending] = '\0';
        return;
    }
}

cnn_status plot_crowd(const plot_to *to, int curves, cnn_error *err)
{
    if (to->most == 0 || curves <= to->most) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%d curves are too many for one picture: %d can be told apart", curves,
                    to->most);
}

static cnn_status look(const char *script, const plot_to *to, const char *name, gnuplot_put *put, void *user,
                       cnn_error *err)
{
    static const char *const endings[] = {"svg", "png"};
    bool shows[2] = {false};
    char path[PLOT_PATH_MAX + 24];
    const cnn_status status = gnuplot_shows(script, name, put, user, shows, err);
    for (int i = 0; i < 2 && status == CNN_OK; i++) {
        snprintf(path, sizeof path, "%s.%s", name, endings[i]);
        printf("%s  %s\n", path,
               shows[i]                  ? "up to date"
               : access(path, F_OK) == 0 ? "OUT OF DATE: it was drawn of other data, or in another way"
                                         : "MISSING");
        *to->stale = *to->stale || !shows[i];
    }
    return status;
}

/* An older picture is replaced, anything else is not: records may well be named x.png. */
cnn_status plot_draw(const char *script, const plot_to *to, const char *behind, gnuplot_put *put, void *user,
                     cnn_error *err)
{
    char name[PLOT_PATH_MAX + 16], svg[PLOT_PATH_MAX + 24], png[PLOT_PATH_MAX + 24];
    if (to->svg) return gnuplot_svg(script, to->svg, put, user, err);
    snprintf(name, sizeof name, "%s%s", to->name, behind);
    if (to->stale) return look(script, to, name, put, user, err);
    snprintf(svg, sizeof svg, "%s.svg", name);
    snprintf(png, sizeof png, "%s.png", name);
    cnn_status status = cnn_check_replaced(svg, "SVG picture", "<?xml", err);
    if (status == CNN_OK) status = cnn_check_replaced(png, "PNG picture", "\x89PNG", err);
    if (status == CNN_OK) status = gnuplot_draw(script, name, put, user, err);
    if (status == CNN_OK) printf("%s\n%s\n", svg, png);
    return status;
}
