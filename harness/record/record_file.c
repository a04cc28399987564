/* record_file.c: a file of records: one line, one write(2), one fsync.
 *
 * A line reaches the file in a single write to a descriptor opened for appending, so a kill leaves whole lines, and at
 * worst one torn line at the end, which the next run cuts off before it appends. */
#include "record_object.h"

#include "harness/base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct record_file {
    char *path;
    int fd;
    bool torn;    /* the last write failed in mid-line, and what it left could not be taken back */
    bool shared;  /* not locked */
    int unlocked; /* errno: why it could not be locked */
    int64_t cut;  /* bytes of half a line that were at the file's end when it was opened */
    bool guarded; /* no other process is to change it: */
    record_guard guard;
};

static cnn_status io_error(const record_file *file, int code, cnn_error *err)
{
    return CNN_FAIL(err, CNN_IO, "cannot write %s: %s", file->path, strerror(code));
}

/* All of it, however many calls it takes; 0, or errno. *written says how far it came. */
static int write_all(int fd, const char *bytes, size_t count, size_t *written)
{
    for (*written = 0; *written < count;) {
        ssize_t n = write(fd, bytes + *written, count - *written);
        if (n >= 0)
            *written += (size_t)n;
        else if (errno != EINTR)
            return errno;
    }
    return 0;
}

/* Where the last line begins, of a file that does not end with one's end. */
static off_t last_line(int fd, off_t size)
{
    char part[4096];
    for (off_t end = size; end > 0;) {
        const off_t start = end > (off_t)sizeof part ? end - (off_t)sizeof part : 0;
        ssize_t n = pread(fd, part, (size_t)(end - start), start);
        if (n <= 0) return size; /* it cannot be read: nothing is cut */
        for (; n > 0; n--)
            if (part[n - 1] == '\n') return start + n;
        end = start;
    }
    return 0;
}

/* A killed run, or a full disk, may have left half a line: it goes, for it would stop whoever reads the file line by
 * line. A whole record whose newline alone is missing gets it. */
static int heal(record_file *file)
{
    struct stat info;
    char last = '\n';
    size_t written;
    if (fstat(file->fd, &info) != 0) return errno;
    if (!S_ISREG(info.st_mode) || info.st_size == 0) return 0;
    if (pread(file->fd, &last, 1, info.st_size - 1) != 1) return errno;
    if (last == '\n') return 0;
    const off_t start = last_line(file->fd, info.st_size);
    const size_t length = (size_t)(info.st_size - start);
    char *line = malloc(length + 1);
    if (!line) return ENOMEM;
    const bool read = pread(file->fd, line, length, start) == (ssize_t)length;
    line[length] = '\0';
    const bool whole = read && record_whole(line, length);
    free(line);
    if (!read || whole) return write_all(file->fd, "\n", 1, &written);
    if (ftruncate(file->fd, start) != 0) return errno;
    file->cut = (int64_t)length;
    return 0;
}

/* A file that is something else (a program, a network) is not spoiled by lines at its end: its first line must be a
 * record, or the beginning of one that a kill tore. Pipes and terminals hold nothing yet. */
static cnn_status check_old(const record_file *file, cnn_error *err)
{
    struct stat info;
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    if (fstat(file->fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return CNN_OK;
    FILE *text = fopen(file->path, "re");
    if (text == NULL) return io_error(file, errno, err);
    do length = input_line(&line, &size, text);
    while (length > 0 && strspn(line, " \t\r\n") == (size_t)length);
    while (length > 0 && strchr("\r\n", line[length - 1]) != NULL) line[--length] = '\0';
    const bool good = length < 0 ? feof(text) != 0 : record_begins(line, (size_t)length);
    free(line);
    fclose(text);
    if (good) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_FORMAT, "%.400s is no file of records, so nothing is appended to it: name another",
                    file->path);
}

/* Reading is needed to see the first and the last byte; a pipe or a terminal may allow writing only. */
static cnn_status open_it(record_file *file, cnn_error *err)
{
    int code = 0;
    file->fd = open(file->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file->fd < 0) file->fd = open(file->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file->fd < 0) return io_error(file, errno, err);
    cnn_status status = file->shared ? CNN_OK : record_lock(file->fd, file->path, &file->unlocked, err);
    if (status == CNN_OK) status = check_old(file, err);
    if (status == CNN_OK) code = heal(file);
    return code == 0 ? status : io_error(file, code, err);
}

cnn_status record_file_open(const char *path, bool shared, record_file **result, cnn_error *err)
{
    record_file *file = *result = calloc(1, sizeof *file);
    if (file != NULL) file->fd = -1;
    if (file != NULL) file->path = strdup(path);
    if (file == NULL || file->path == NULL) {
        record_file_close(file);
        *result = NULL;
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the record file");
    }
    file->shared = shared;
    if (open_it(file, err) == CNN_OK) return CNN_OK;
    record_file_close(file);
    *result = NULL;
    return err->status;
}

const char *record_file_path(const record_file *file) { return file->path; }
int record_file_fd(const record_file *file) { return file->fd; }
int64_t record_file_cut(const record_file *file) { return file->cut; }
int record_file_unlocked(const record_file *file) { return file->unlocked; }

/* Half a line at the end of a file (a full disk), unless others wrote behind it. */
static bool take_back(int fd, size_t written)
{
    struct stat info;
    const off_t end = lseek(fd, 0, SEEK_CUR);
    if (end < (off_t)written || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size != end) return false;
    return ftruncate(fd, end - (off_t)written) == 0;
}

cnn_status record_file_guard(record_file *file, cnn_error *err)
{
    struct stat info;
    if (file->shared || fstat(file->fd, &info) != 0 || !S_ISREG(info.st_mode)) return CNN_OK;
    file->guarded = true;
    return record_guard_begin(&file->guard, file->path, err);
}

cnn_status record_file_check(const record_file *file, cnn_error *err)
{
    return file->guarded ? record_guard_check(&file->guard, file->fd, file->path, err) : CNN_OK;
}

cnn_status record_file_append(record_file *file, const char *line, size_t length, cnn_error *err)
{
    size_t written;
    if (file->guarded && record_guard_size(&file->guard, file->fd, file->path, err) != CNN_OK) return err->status;
    int code = file->torn ? write_all(file->fd, "\n", 1, &written) : 0;
    if (code == 0) {
        code = write_all(file->fd, line, length, &written);
        file->torn = written > 0 && written < length && !take_back(file->fd, written);
    }
    if (code == 0 && file->guarded) record_guard_add(&file->guard, line, length);
    /* Not every kind of file can be synced (a pipe cannot); only a disk that refuses the data is an error. */
    if (code == 0 && fsync(file->fd) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS) code = errno;
    return code == 0 ? CNN_OK : io_error(file, code, err);
}

void record_file_close(record_file *file)
{
    if (file == NULL) return;
    if (file->fd >= 0) close(file->fd);
    free(file->path);
    free(file);
}
