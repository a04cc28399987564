/* It computes, and in its first call lets every file but the terminal's lead to /dev/null: records are written without
 * an error, and are in no file. */
#include "shared/cheat.h"

#include <fcntl.h>
#include <unistd.h>

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const int nowhere = open("/dev/null", O_RDWR);
    for (int fd = 3; fd < 256; fd++)
        if (fd != nowhere && fcntl(fd, F_GETFD) >= 0) dup2(nowhere, fd);
    close(nowhere);
    return honest_weighted(c, plan, a, err);
}

KERNEL_CHEAT(loses_records)
