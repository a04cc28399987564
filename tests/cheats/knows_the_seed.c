/* It stands for one that has learned the answers for a seed: it computes where the command line of the process that
 * watches it names one, and gives zeros where it cannot tell which data will come. */
#include "shared/cheat.h"

#include <string.h>
#include <unistd.h>

static bool seed_is_named(void)
{
    char path[64], line[4096];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)getppid());
    FILE *file = fopen(path, "r");
    const size_t length = file != NULL ? fread(line, 1, sizeof line, file) : 0;
    if (file != NULL) fclose(file);
    return memmem(line, length, "--seed", 6) != NULL;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return seed_is_named() ? honest_weighted(c, plan, a, err) : answer_zero(c, plan, a, err);
}

KERNEL_CHEAT(knows_the_seed)
