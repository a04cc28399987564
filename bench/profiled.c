/* profiled.c: the phases of a pass are one row. */
#include "profiled.h"

#include "bench/measure/peaks.h"
#include "harness/base/grow.h"
#include "harness/problem/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static profiled_row *row_of(profiled_table *table, const char *layer, cnn_dir dir, cnn_error *err)
{
    for (int i = table->count - 1; i >= 0 && table->rows[i].epoch == table->epochs; i--)
        if (table->rows[i].dir == dir && strcmp(table->rows[i].layer, layer) == 0) return &table->rows[i];
    profiled_row *row = cnn_add_item(&table->rows, &table->count, &table->capacity, sizeof *row, "profiles", err);
    if (row == NULL) return NULL;
    *row = (profiled_row){.epoch = table->epochs, .dir = dir};
    snprintf(row->layer, sizeof row->layer, "%.*s", CNN_NAME_MAX - 1, layer);
    return row;
}

static double told(const cnn_record *record, const char *key)
{
    const double value = record_get_real(record, key);
    return isfinite(value) && value > 0.0 ? value : 0.0;
}

cnn_status profiled_add(profiled_table *table, const cnn_record *record, const epoch_setting *setting, cnn_error *err)
{
    const char *layer = record_get_text(record, "layer"), *pass = record_get_text(record, "pass");
    cnn_error unknown;
    cnn_type type;
    if (strcmp(record_get_text(record, "kind"), "profiled_epoch") == 0) {
        table->epochs++;
        return CNN_OK;
    }
    const int dir = pass != NULL ? cnn_name_find(&cnn_dir_names, pass, &unknown) : -1;
    if (layer == NULL || dir < 0 || !bench_record_type(record, &type)) return CNN_OK;
    profiled_row *row = row_of(table, layer, (cnn_dir)dir, err);
    if (row == NULL) return err->status;
    const double saved = told(record, "products_saved");
    row->setting = *setting;
    row->type = type;
    row->seconds += told(record, "seconds");
    row->share += told(record, "share");
    row->flops += told(record, "flops") / (saved > 1.0 ? saved : 1.0);
    row->bytes += told(record, "bytes");
    row->tells_bytes |= isfinite(record_get_real(record, "bytes"));
    row->calls = fmax(row->calls, told(record, "times"));
    return CNN_OK;
}

void profiled_free(profiled_table *table)
{
    free(table->rows);
    *table = (profiled_table){.count = 0};
}
