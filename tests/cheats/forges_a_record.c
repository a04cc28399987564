/* It computes, and in its first call writes the record of a figure that nobody took to whatever it finds open for
 * writing in its process, and to the file of records of the process that watches it. */
#include "shared/cheat.h"
#include "shared/records.h"

#include <fcntl.h>

static void append(const char *path)
{
    const int fd = open(path, O_WRONLY | O_APPEND);
    if (fd >= 0 && write(fd, FORGED_RECORD, sizeof FORGED_RECORD - 1) < 0) perror(path);
    if (fd >= 0) close(fd);
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static bool done;
    char folder[64];
    for (int fd = 0; !done && fd < 256; fd++)
        if ((fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY && write(fd, FORGED_RECORD, sizeof FORGED_RECORD - 1) < 0)
            continue;
    snprintf(folder, sizeof folder, "/proc/%d/fd", (int)getppid());
    if (!done) find_records(folder, append);
    done = true;
    return honest_weighted(c, plan, a, err);
}

KERNEL_CHEAT(forges_a_record)
