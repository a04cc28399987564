/* scaling_read.c: from files: epochs by their own reader; what sums take, and dates. */
#include "scaling.h"

#include "days.h"
#include "harness/base/grow.h"

#include <math.h>
#include <string.h>

static cnn_status read_other(void *user, const cnn_record *record, cnn_error *err)
{
    scaling_set *set = user;
    const char *kind = record_get_text(record, "kind");
    if (strcmp(kind, "env") == 0) days_add(set->first_date, set->last_date, record_get_text(record, "date"));
    if (strcmp(kind, "all_reduce_line") != 0) return CNN_OK;
    const double count = record_get_real(record, "ranks");
    scaling_link link = {.alpha_s = record_get_real(record, "alpha_s"),
                         .bytes_per_s = record_get_real(record, "beta_bytes_per_s"),
                         .off = record_get_real(record, "off")};
    epoch_text(link.device, sizeof link.device, record_get_inner_text(record, "rank_devices", "0"));
    epoch_text(link.way, sizeof link.way, record_get_text(record, "comm_way"));
    if (!(count >= 2 && count < 1e9) || !(link.bytes_per_s > 0) || !isfinite(link.alpha_s)) return CNN_OK;
    link.ranks = (int64_t)count;
    scaling_link *added =
        cnn_add_item(&set->links, &set->n_links, &set->links_capacity, sizeof link, "sums over ranks", err);
    if (added == NULL) return err->status;
    *added = link;
    return CNN_OK;
}

cnn_status scaling_read(scaling_set *set, epoch_table *table, const char *path, int *bad, cnn_error *err)
{
    const cnn_status status = epoch_table_read(table, path, bad, err);
    return status == CNN_OK ? record_read(path, read_other, set, bad, err) : status;
}
