/* It computes, and in its first call appends the record of a figure that nobody took to each file of records in the
 * working directory. */
#include "shared/cheat.h"
#include "shared/records.h"

static void append(const char *path)
{
    FILE *file = fopen(path, "a");
    if (file == NULL) return;
    fputs(FORGED_RECORD, file);
    fclose(file);
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static bool done;
    if (!done) find_records(".", append);
    done = true;
    return honest_weighted(c, plan, a, err);
}

KERNEL_CHEAT(forges_a_record_by_name)
