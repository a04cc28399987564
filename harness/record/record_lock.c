/* record_lock.c: see record_object.h. */
#include "record_object.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

/* Holds the number of an inherited descriptor whose open file has the lock. Anybody may set it: it counts only where
 * that descriptor is of the same file, and the lock can be had through it. */
static const char variable[] = "BENCHCNN_RECORD_LOCK";

enum { TRIES = 100, PAUSE_NS = 20000000 }; /* two seconds */

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool handed_down(const struct stat *info)
{
    struct stat other;
    const char *text = getenv(variable);
    const int fd = text != NULL ? atoi(text) : -1;
    if (fd <= STDERR_FILENO || fstat(fd, &other) != 0 || !same_file(info, &other)) return false;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) return false;
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC); /* nobody further down appends to it */
    return true;
}

/* Linux lists locks with device and inode ("1: FLOCK  ADVISORY  WRITE 720 fe:00:10953442 0 EOF"); 0: not found. */
static long holder(const struct stat *info)
{
    char line[256];
    long pid, found = 0;
    unsigned high, low;
    uintmax_t inode;
    FILE *file = fopen("/proc/locks", "re");
    while (file != NULL && found == 0 && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%*s FLOCK %*s WRITE %ld %x:%x:%" SCNuMAX, &pid, &high, &low, &inode) == 4 &&
            high == major(info->st_dev) && low == minor(info->st_dev) && inode == info->st_ino)
            found = pid;
    if (file != NULL) fclose(file);
    return found;
}

static cnn_status refuse(const char *path, const struct stat *info, cnn_error *err)
{
    char who[48] = "another process";
    const long pid = holder(info);
    if (pid > 0) snprintf(who, sizeof who, "process %ld", pid);
    return CNN_FAIL(err, CNN_IO,
                    "%.300s is being written by %s: wait until that has ended, or name another file; nothing was "
                    "written to it here",
                    path, who);
}

cnn_status record_lock(int fd, const char *path, int *why, cnn_error *err)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    struct stat info;
    *why = 0;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || handed_down(&info)) return CNN_OK;
    for (int i = 0; i < TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) return CNN_OK;
        if (errno != EWOULDBLOCK && errno != EINTR) {
            *why = errno;
            return CNN_OK;
        }
        nanosleep(&pause, NULL);
    }
    return refuse(path, &info, err);
}

cnn_status record_lock_hand_down(int fd, cnn_error *err)
{
    char text[16];
    snprintf(text, sizeof text, "%d", fd);
    if (fcntl(fd, F_SETFD, 0) == 0 && setenv(variable, text, 1) == 0) return CNN_OK;
    return CNN_FAIL(err, CNN_IO, "the lock of the records cannot be handed down: %s", strerror(errno));
}

void record_lock_let_go(void)
{
    const char *text = getenv(variable);
    const int fd = text != NULL ? atoi(text) : -1;
    if (fd > STDERR_FILENO) close(fd);
    (void)unsetenv(variable);
}
