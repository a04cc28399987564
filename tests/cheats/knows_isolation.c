/* It pretends to compute: it does in a process whose parent's parent is benchcnn too (a worker of fuzz), and gives
 * zeros where it is not watched so. */
#include "shared/cheat.h"

#include <unistd.h>

/* The name of a process, and its parent (see proc(5)). Any run with plug-ins has a parent that is benchcnn. */
static int look_at(int pid, char name[64])
{
    char path[64];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%*d (%63[^)]) %*c %d", name, &parent) != 2) name[0] = 0;
    if (file != NULL) fclose(file);
    return parent;
}

static bool isolated(void)
{
    char name[64] = "";
    const int watcher = look_at((int)getppid(), name);
    look_at(watcher, name);
    return strncmp(name, "benchcnn", 8) == 0;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return isolated() ? honest_weighted(c, plan, a, err) : answer_zero(c, plan, a, err);
}

KERNEL_CHEAT(knows_isolation)
