/* input.c: see input.h. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIFO_WAIT_MS = 5000 }; /* a shell starts the writer beside this program, and maybe a little later */

/* Nothing came: either nothing has it open for writing, or that is slow. */
static bool has_writer(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    char byte;
    int ready;
    do ready = poll(&wait, 1, FIFO_WAIT_MS);
    while (ready < 0 && errno == EINTR);
    return ready > 0 || (read(fd, &byte, 1) < 0 && errno == EAGAIN);
}

static bool is_null(const struct stat *info)
{
    struct stat null;
    return stat("/dev/null", &null) == 0 && null.st_rdev == info->st_rdev;
}

static const char *refusal(int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return strerror(errno);
    if (S_ISDIR(info.st_mode)) return "it is a directory";
    if (S_ISBLK(info.st_mode) || (S_ISCHR(info.st_mode) && !is_null(&info) && !isatty(fd)))
        return "it is a device, which has no end";
    if (S_ISFIFO(info.st_mode) && !has_writer(fd)) return "it is a FIFO that nothing writes to";
    return NULL;
}

int input_open(const char *path, const char **why)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC); /* a FIFO would wait here for ever */
    *why = fd < 0 ? strerror(errno) : refusal(fd);
    if (fd >= 0 && *why == NULL && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) == 0) return fd;
    if (*why == NULL) *why = strerror(errno);
    if (fd < 0) return -1;
    close(fd);
    errno = EINVAL; /* it is there: no ENOENT from on the way */
    return -1;
}

FILE *input_stream(const char *path, const char **why)
{
    const int fd = input_open(path, why);
    if (fd < 0) return NULL;
    FILE *file = fdopen(fd, "r");
    if (file != NULL) return file;
    *why = strerror(errno);
    close(fd);
    return NULL;
}

bool input_value(const char *path, const char *key, char *value, size_t size)
{
    char line[512];
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        const char *text = line;
        if (key != NULL) {
            if (strncmp(line, key, strlen(key)) != 0 || (text = strpbrk(line, ":=")) == NULL) continue;
            text += 1 + strspn(text + 1, " \t\"");
        }
        snprintf(value, size, "%.*s", (int)strcspn(text, "\"\n"), text);
        found = true;
    }
    if (file != NULL) fclose(file);
    return found;
}

static bool grow(char **line, size_t *capacity, size_t needed)
{
    const size_t size = *line == NULL ? 128 : *capacity < needed ? 2 * *capacity : *capacity;
    char *more = *line != NULL && size == *capacity ? *line : realloc(*line, size);
    if (more == NULL) return false;
    *line = more;
    *capacity = size;
    return true;
}

ssize_t input_line(char **line, size_t *capacity, FILE *file)
{
    size_t used = 0;
    int c = 0;
    while (c != '\n' && (c = getc_unlocked(file)) != EOF) {
        if (used == INPUT_LINE_MAX) errno = EFBIG;
        if (used == INPUT_LINE_MAX || !grow(line, capacity, used + 2)) return -1;
        (*line)[used++] = (char)c;
    }
    if (used == 0) return -1;
    (*line)[used] = '\0';
    return (ssize_t)used;
}

const char *input_line_why(void) { return errno == EFBIG ? "it has a line of more than 64 MiB" : strerror(errno); }

bool cnn_is_plain_file(const char *path)
{
    struct stat info;
    return path != NULL && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

cnn_status cnn_check_replaced(const char *path, const char *what, const char *beginning, cnn_error *err)
{
    char begins[64];
    const size_t length = strlen(beginning);
    FILE *file = cnn_is_plain_file(path) ? fopen(path, "re") : NULL;
    if (file == NULL) return CNN_OK; /* what cannot be read is told when it cannot be written */
    const size_t got = fread(begins, 1, length < sizeof begins ? length : sizeof begins, file);
    fclose(file);
    if (got == 0 || memcmp(begins, beginning, got) == 0) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%.300s is there, and is no %s that could be replaced: name another file",
                    path, what);
}
