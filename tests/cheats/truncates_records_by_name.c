/* It computes, and in each call empties all files of records in the working directory. */
#include "shared/cheat.h"
#include "shared/records.h"

static void empty(const char *path)
{
    if (truncate(path, 0) != 0) return;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    find_records(".", empty);
    return honest_weighted(c, plan, a, err);
}

KERNEL_CHEAT(truncates_records_by_name)
