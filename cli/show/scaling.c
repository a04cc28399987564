/* scaling.c: see scaling.h. */
#include "scaling.h"

#include "cli/table.h"
#include "parts.h"

#include <string.h>

enum { WORDS_MAX = 16384 };

cnn_status cli_scaling(const char *const *paths, int count, bool say, scaling_set *set, cnn_error *err)
{
    epoch_table table = {.count = 0};
    cnn_status status = CNN_OK;
    for (int i = 0, bad; i < count && status == CNN_OK; i++) {
        status = scaling_read(set, &table, paths[i], &bad, err);
        if (status == CNN_OK && say) cli_say_bad_lines(paths[i], bad);
    }
    if (status == CNN_OK && table.superseded > 0 && say)
        fprintf(stderr, "left out: %d epoch record%s of points that another build has measured since\n",
                table.superseded, table.superseded == 1 ? "" : "s");
    if (status == CNN_OK) status = scaling_make(&table, set, err);
    epoch_table_free(&table);
    return status;
}

void cli_show_models(const scaling_set *set)
{
    for (int i = 0; i < set->count; i++) {
        char text[WORDS_MAX] = "", *rest = text;
        scaling_model_text(&set->list[i], text, sizeof text);
        for (const char *line; (line = strsep(&rest, "\n")) != NULL && line[0] != '\0';) table_print(6, "%s\n", line);
    }
}

cnn_status cli_show_scaling(const scaling_set *set, cnn_error *err)
{
    export_table tables[EXPORT_TABLES];
    cnn_status status = CNN_OK;
    export_tables(tables);
    for (int i = 0; i < set->count; i++)
        for (int k = 0; k < set->list[i].count && status == CNN_OK; k++) {
            cnn_record *record = scaling_record(&set->list[i], &set->list[i].points[k]);
            status = record != NULL ? export_add(tables, record, false, err)
                                    : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a table");
            record_free(record);
        }
    for (int i = 0; i < EXPORT_TABLES; i++) {
        if (status == CNN_OK && strcmp(tables[i].name, "scaling") == 0)
            status = export_print(&tables[i], EXPORT_TEXT, err);
        export_free(&tables[i]);
    }
    if (status == CNN_OK) cli_show_models(set);
    return status;
}
