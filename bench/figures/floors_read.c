/* floors_read.c: from files: passes by the reader of epochs; ceilings, and dates. */
#include "floors.h"

#include "days.h"

#include <string.h>

static cnn_status take_other(void *user, const cnn_record *record, cnn_error *err)
{
    floors_set *set = user;
    bench_peak peak;
    if (bench_peak_parse(record, &peak)) return bench_peaks_add(&set->peaks, &peak, err);
    if (strcmp(record_get_text(record, "kind"), "env") == 0)
        days_add(set->first_date, set->last_date, record_get_text(record, "date"));
    return CNN_OK;
}

cnn_status floors_read(floors_set *set, const char *path, int *bad, cnn_error *err)
{
    epoch_table epochs = {.profiles = &set->profiles};
    cnn_status status = epoch_table_read(&epochs, path, bad, err);
    epoch_table_free(&epochs);
    set->profiles.epochs++; /* the next file begins another epoch, even where this one was cut off */
    if (status == CNN_OK) status = record_read(path, take_other, set, bad, err);
    return status;
}

void floors_free(floors_set *set)
{
    profiled_free(&set->profiles);
    bench_peaks_free(&set->peaks);
    series_free(&set->runs);
}
