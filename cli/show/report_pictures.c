/* report_pictures.c: the pictures of a page: those of `plot` that its records hold. */
#include "bench/figures/page.h"
#include "harness/process/program.h"
#include "parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    CURVE_EPOCHS = 5, /* what is trained for fewer was timed, and has no curve to show */
    CURVES = 8,       /* of several files in one picture: so many colours can be told apart */
    FIGURES = 1000,   /* of single operations in one picture */
    EPOCHS = 2000,    /* in one picture */
    PROBLEMS = 6      /* of fewer, shares say less than the times do */
};

static cnn_status put_picture(const char *kind, const char *file, FILE *svg, const char *why, record_sink *to,
                              cnn_error *err)
{
    cnn_record *record = record_new("picture");
    const long size = svg != NULL ? ftell(svg) : 0;
    char *text = size > 0 ? malloc((size_t)size + 1) : NULL;
    record_text(record, "picture", kind);
    record_text(record, "file", file);
    if (why != NULL) record_text(record, "reason", why);
    if (text != NULL) {
        rewind(svg);
        text[fread(text, 1, (size_t)size, svg)] = '\0';
        record_text(record, "svg", text);
    }
    free(text);
    return record_write(to, record, err);
}

/* Of these files; one that holds nothing of the kind, or too much, is no failure: *why says which. */
static cnn_status draw(const cli_options *o, const char *kind, const char *const *files, int count, record_sink *to,
                       char why[CNN_MESSAGE_MAX], cnn_error *err)
{
    cli_options *own = malloc(sizeof *own); /* large: kept off the stack */
    FILE *svg = program_file("a plot", err);
    cnn_status status = own != NULL && svg != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plot");
    why[0] = '\0';
    if (status == CNN_OK) {
        *own = *o;
        own->quiet = true;
        own->words.count = 0;
        if (kind[0] != '\0') own->words.items[own->words.count++] = kind;
        for (int i = 0; i < count && own->words.count < CLI_LIST_MAX; i++)
            own->words.items[own->words.count++] = files[i];
        status = cli_plot_svg(own, count > 1 ? CURVES : 0, svg, err);
    }
    if (status == CNN_OK && fseek(svg, 0, SEEK_END) == 0)
        status = put_picture(kind, count == 1 ? files[0] : NULL, svg, NULL, to, err);
    else if (status == CNN_BAD_ARGUMENT || status == CNN_UNAVAILABLE || status == CNN_INTERNAL)
        snprintf(why, CNN_MESSAGE_MAX, "%s", err->message);
    if (why[0] != '\0') status = CNN_OK;
    if (svg != NULL) fclose(svg);
    free(own);
    return status;
}

/* The kinds of `plot`; what they are drawn of: at least so many epochs of one training, figures of operations, records
 * of one of these kinds. */
static const struct {
    const char *name;
    int epochs;
    bool figures, rounded, ranks;
    bool problems; /* many, which several did */
    bool alone;    /* each file in its own: what is in several has no bars in common */
    const char *records[2];
} kinds[] = {{.name = "", .epochs = 1},
             {.name = "curves", .epochs = CURVE_EPOCHS},
             {.name = "goals", .records = {"goal"}},
             {.name = "workers", .epochs = 1},
             {.name = "ranks", .ranks = true},
             {.name = "speedup", .epochs = 1, .figures = true},
             {.name = "solved", .problems = true},
             {.name = "roofline", .figures = true},
             {.name = "sweep", .records = {"sweep"}},
             {.name = "bars", .figures = true, .alone = true, .records = {"process", "benchmark"}},
             {.name = "floor", .records = {"profile"}},
             {.name = "errors", .rounded = true},
             {.name = "kills", .records = {"kill"}}};

/* Such a picture could not be read, and would take longer to draw than all the rest of the page. */
static bool too_many(const page *p, size_t k, char why[CNN_MESSAGE_MAX])
{
    const bool epochs = kinds[k].epochs > 0 && page_epochs(p) > EPOCHS,
               figures = kinds[k].figures && page_timings(p) > FIGURES;
    snprintf(why, CNN_MESSAGE_MAX,
             "%d %s are too many for one picture: `benchcnn plot` draws the files that it is given",
             epochs ? page_epochs(p) : page_timings(p), epochs ? "epochs" : "figures");
    return epochs || figures;
}

/* Whether there is anything for it; path NULL: in all files. */
static bool anything(const page *p, size_t k, const char *path)
{
    bool any = false;
    for (int i = 0; i < 2 && kinds[k].records[i] != NULL; i++)
        any = any || page_holds(p, kinds[k].records[i], path) > 0;
    return any || (kinds[k].epochs > 0 && page_longest_training(p, path) >= kinds[k].epochs) ||
           (kinds[k].figures && page_timings(p) > 0) ||
           (kinds[k].problems && page_problems(p) >= PROBLEMS && page_timings(p) >= 2 * page_problems(p)) ||
           (kinds[k].rounded && page_rounded(p, path)) || (kinds[k].ranks && page_over_ranks(p, path));
}

/* All files in one picture; where that is too much, or says nothing, each in its own. */
static cnn_status draw_kind(const cli_options *o, const page *p, size_t k, record_sink *to, cnn_error *err)
{
    const char *const *files = o->words.items;
    const int count = o->words.count;
    const bool together = count == 1 || !kinds[k].alone;
    char why[CNN_MESSAGE_MAX] = "", own_why[CNN_MESSAGE_MAX];
    cnn_status status = CNN_OK;
    if (too_many(p, k, why)) return put_picture(kinds[k].name, NULL, NULL, why, to, err);
    if (together)
        status = draw(o, kinds[k].name, files, count, to, why, err);
    else
        why[0] = '\0';
    if (together && why[0] == '\0') return status;
    for (int i = 0; i < count && count > 1 && status == CNN_OK; i++)
        if (anything(p, k, files[i])) status = draw(o, kinds[k].name, &files[i], 1, to, own_why, err);
    return status == CNN_OK && together ? put_picture(kinds[k].name, NULL, NULL, why, to, err) : status;
}

cnn_status report_pictures(const cli_options *o, const page *p, record_sink *to, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && status == CNN_OK; k++)
        if (anything(p, k, NULL)) status = draw_kind(o, p, k, to, err);
    return status;
}
