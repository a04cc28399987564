/* epoch_table.c: epochs of a file or a sweep, and what they come to at each setting. */
#include "epoch.h"

#include "harness/base/grow.h"

#include <stdlib.h>
#include <string.h>

/* Where the last run of this setting begins, if it has not come to its last epoch; else the table's end. */
static int cut_run(const epoch_table *table, const epoch_setting *setting)
{
    int last = table->count - 1;
    while (last >= 0 && !epoch_same_setting(&table->rows[last].setting, setting)) last--;
    if (last < 0 || table->rows[last].epoch >= table->rows[last].epochs) return table->count;
    int first = last;
    for (int i = last; i >= 0 && table->rows[first].epoch > 1; i--)
        if (epoch_same_setting(&table->rows[i].setting, setting)) first = i;
    return first;
}

/* Drops the rows behind `first` that match this setting; how many. */
static int drop(epoch_table *table, int first, bool matches(const epoch_setting *, const epoch_setting *),
                const epoch_setting *setting)
{
    int kept = first;
    const int count = table->count;
    for (int i = first; i < count; i++) {
        if (matches(&table->rows[i].setting, setting)) continue;
        if (kept < i) table->rows[kept] = table->rows[i]; /* a row is large, and mostly none is dropped */
        kept++;
    }
    table->count = kept;
    return count - kept;
}

cnn_status epoch_table_add(epoch_table *table, const epoch_row *row, cnn_error *err)
{
    table->superseded += drop(table, 0, epoch_other_build, &row->setting);
    if (row->epoch == 1) drop(table, cut_run(table, &row->setting), epoch_same_setting, &row->setting);
    epoch_row *added = cnn_add_item(&table->rows, &table->count, &table->capacity, sizeof *row, "epoch records", err);
    if (!added) return err->status;
    *added = *row;
    return CNN_OK;
}

void epoch_table_free(epoch_table *table)
{
    free(table->rows);
    memset(table, 0, sizeof *table);
}

void epoch_sum_add(epoch_sum *sum, double seconds, unsigned marks)
{
    if (sum->count == EPOCHS_SUMMED) return;
    sum->seconds[sum->count++] = seconds;
    for (int i = 0; i < BENCH_MARK_COUNT; i++) sum->marked[i] += (marks >> i & 1u) != 0;
}

void epoch_sum_stats(const epoch_sum *sum, bench_stats *stats)
{
    double sorted[EPOCHS_SUMMED];
    bench_stats_of(sum->seconds, sum->count, sorted, stats);
    stats->marks &= BENCH_SPREAD; /* epochs are a few: the interval that `bench` asks for needs more */
    for (int i = 0; i < BENCH_MARK_COUNT; i++)
        if (sum->marked[i] > 0 && 2 * sum->marked[i] >= sum->count) stats->marks |= 1u << i;
}

bool epoch_diverged(const epoch_table *table, const epoch_setting *setting)
{
    for (int i = 0; i < table->count; i++)
        if (table->rows[i].diverged && epoch_same_setting(&table->rows[i].setting, setting)) return true;
    return false;
}

int epoch_median(const epoch_table *table, const epoch_setting *setting, double *seconds, unsigned *marks)
{
    epoch_sum sum = {.count = 0};
    bench_stats stats;
    for (int i = 0; i < table->count; i++)
        if (epoch_same_setting(&table->rows[i].setting, setting))
            epoch_sum_add(&sum, table->rows[i].seconds, table->rows[i].marks);
    if (sum.count == 0 || epoch_diverged(table, setting)) return 0;
    epoch_sum_stats(&sum, &stats);
    *seconds = stats.median;
    if (marks) *marks = stats.marks;
    return sum.count;
}

bool epoch_finished(const epoch_table *table, const epoch_setting *setting, int64_t epochs)
{
    for (int i = 0; i < table->count; i++)
        if (epoch_same_setting(&table->rows[i].setting, setting) && table->rows[i].epoch >= epochs) return true;
    return false;
}

bool epoch_energy_known(const epoch_table *table, const epoch_setting *setting)
{
    for (int i = 0; i < table->count; i++)
        if (table->rows[i].joules > 0 && epoch_same_setting(&table->rows[i].setting, setting)) return true;
    return false;
}

bool epoch_measured_elsewhere(const epoch_table *table, const epoch_setting *setting)
{
    for (int i = 0; i < table->count; i++)
        if (epoch_other_build(&table->rows[i].setting, setting)) return true;
    return false;
}
