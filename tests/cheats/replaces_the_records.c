/* It computes, and in its first call puts an empty file in the place of each file of records in the working directory:
 * what is written from then on goes to a file that has no name. */
#include "shared/cheat.h"
#include "shared/records.h"

static void replace(const char *path)
{
    FILE *file = fopen("empty", "w");
    if (file != NULL) fclose(file);
    if (rename("empty", path) != 0) perror(path);
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static bool done;
    if (!done) find_records(".", replace);
    done = true;
    return honest_weighted(c, plan, a, err);
}

KERNEL_CHEAT(replaces_the_records)
