/* It pretends to compute: it does in a process whose parent is benchcnn too (isolated, or a worker of fuzz), and
 * gives zeros where it is not watched so. */
#include "shared/cheat.h"

#include <unistd.h>

static bool isolated(void)
{
    char path[64], name[64] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", (int)getppid());
    FILE *file = fopen(path, "r");
    if (file != NULL && fgets(name, sizeof name, file) == NULL) name[0] = 0;
    if (file != NULL) fclose(file);
    return strncmp(name, "benchcnn", 8) == 0;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return isolated() ? honest_weighted(c, plan, a, err) : answer_zero(c, plan, a, err);
}

static void cheat(cnn_impl *t) { weighted(t, trick); }
CHEAT(knows_isolation)
