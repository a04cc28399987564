/* report_scaling.c: strong and weak scaling over ranks, as `table --kind scaling` has it, for a page. */
#include "bench/figures/page.h"
#include "parts.h"
#include "scaling.h"

#include <string.h>

enum { WORDS_MAX = 16384 };

/* What there is to say about each curve's model, a record a line. */
static cnn_status write_models(const scaling_set *set, record_sink *to, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; i < set->count; i++) {
        char text[WORDS_MAX] = "", *rest = text;
        scaling_model_text(&set->list[i], text, sizeof text);
        for (const char *line; status == CNN_OK && (line = strsep(&rest, "\n")) != NULL && line[0] != '\0';) {
            cnn_record *record = record_new("scaling_model");
            record_bool(record, "head", line[0] != ' ');
            record_text(record, "text", line + strspn(line, " "));
            status = record_write(to, record, err);
        }
    }
    return status;
}

cnn_status report_scaling(const cli_options *o, const page *p, record_sink *to, cnn_error *err)
{
    scaling_set set = {.count = 0};
    cnn_error none = {.status = CNN_OK};
    if (!page_over_ranks(p, NULL)) return CNN_OK;
    cnn_status status = cli_scaling(o->words.items, o->words.count, false, &set, &none);
    if (status == CNN_BAD_ARGUMENT) { /* nothing to compare, or too much: the picture says why */
        scaling_free(&set);
        return CNN_OK;
    }
    if (status != CNN_OK) *err = none;
    for (int i = 0; i < set.count; i++)
        for (int k = 0; k < set.list[i].count && status == CNN_OK; k++)
            status = record_write(to, scaling_record(&set.list[i], &set.list[i].points[k]), err);
    if (status == CNN_OK) status = write_models(&set, to, err);
    scaling_free(&set);
    return status;
}
