/* record_sink.c: where records go: one line, one write(2), one fsync.
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

struct record_sink {
    char *path; /* NULL: no file */
    int fd;
    FILE *json;          /* (optional) where each record goes, too */
    bool torn;           /* the last write failed in mid-line, and what it left could not be taken back */
    bool shared;         /* not locked */
    int unlocked;        /* errno: why it could not be locked */
    int64_t cut;         /* bytes of half a line that were at the file's end when it was opened */
    record_there *there; /* NULL: nothing is */
    void *user;
    struct {
        record_pair text;
        bool whole;        /* it is a number */
    } marks[RECORD_MARKS]; /* fields of every record */
    int n_marks;
};

static void set_mark(record_sink *sink, const char *key, const char *value, bool whole)
{
    int i = 0;
    while (i < sink->n_marks && strcmp(sink->marks[i].text.key, key) != 0) i++;
    if (i == RECORD_MARKS) return;
    record_pair *mark = &sink->marks[i].text;
    snprintf(mark->key, sizeof mark->key, "%s", key);
    snprintf(mark->value, sizeof mark->value, "%s", value);
    sink->marks[i].whole = whole;
    if (i == sink->n_marks) sink->n_marks++;
}

void record_sink_mark(record_sink *sink, const char *key, const char *value) { set_mark(sink, key, value, false); }

void record_sink_mark_int(record_sink *sink, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    set_mark(sink, key, text, true);
}

void record_sink_unmark(record_sink *sink) { sink->n_marks = 0; }

static void put_marks(const record_sink *sink, cnn_record *record)
{
    for (int i = 0; i < sink->n_marks; i++) {
        const record_pair *mark = &sink->marks[i].text;
        if (sink->marks[i].whole)
            record_int(record, mark->key, strtoll(mark->value, NULL, 10));
        else
            record_text(record, mark->key, mark->value);
    }
}

void record_sink_pass_over(record_sink *sink, record_there *there, void *user)
{
    sink->there = there;
    sink->user = user;
}

static cnn_status io_error(const record_sink *sink, int code, cnn_error *err)
{
    return CNN_FAIL(err, CNN_IO, "cannot write %s: %s", sink->path ? sink->path : "standard output", strerror(code));
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
static int heal(record_sink *sink)
{
    struct stat info;
    char last = '\n';
    size_t written;
    if (fstat(sink->fd, &info) != 0) return errno;
    if (!S_ISREG(info.st_mode) || info.st_size == 0) return 0;
    if (pread(sink->fd, &last, 1, info.st_size - 1) != 1) return errno;
    if (last == '\n') return 0;
    const off_t start = last_line(sink->fd, info.st_size);
    const size_t length = (size_t)(info.st_size - start);
    char *line = malloc(length + 1);
    if (!line) return ENOMEM;
    const bool read = pread(sink->fd, line, length, start) == (ssize_t)length;
    line[length] = '\0';
    const bool whole = read && record_whole(line, length);
    free(line);
    if (!read || whole) return write_all(sink->fd, "\n", 1, &written);
    if (ftruncate(sink->fd, start) != 0) return errno;
    sink->cut = (int64_t)length;
    return 0;
}

int64_t record_sink_cut(const record_sink *sink) { return sink ? sink->cut : 0; }
int record_sink_unlocked(const record_sink *sink) { return sink ? sink->unlocked : 0; }

/* A file that is something else (a program, a network) is not spoiled by lines at its end: its first line must be a
 * record, or the beginning of one that a kill tore. Pipes and terminals hold nothing yet. */
static cnn_status check_old(const record_sink *sink, cnn_error *err)
{
    struct stat info;
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    if (fstat(sink->fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return CNN_OK;
    FILE *file = fopen(sink->path, "re");
    if (file == NULL) return io_error(sink, errno, err);
    do length = input_line(&line, &size, file);
    while (length > 0 && strspn(line, " \t\r\n") == (size_t)length);
    while (length > 0 && strchr("\r\n", line[length - 1]) != NULL) line[--length] = '\0';
    const bool good = length < 0 ? feof(file) != 0 : record_begins(line, (size_t)length);
    free(line);
    fclose(file);
    if (good) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_FORMAT, "%.400s is no file of records, so nothing is appended to it: name another",
                    sink->path);
}

/* Reading is needed to see the first and the last byte; a pipe or a terminal may allow writing only. */
static cnn_status open_file(record_sink *sink, cnn_error *err)
{
    int code = 0;
    sink->fd = open(sink->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (sink->fd < 0) sink->fd = open(sink->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (sink->fd < 0) return io_error(sink, errno, err);
    cnn_status status = sink->shared ? CNN_OK : record_lock(sink->fd, sink->path, &sink->unlocked, err);
    if (status == CNN_OK) status = check_old(sink, err);
    if (status == CNN_OK) code = heal(sink);
    return code == 0 ? status : io_error(sink, code, err);
}

static cnn_status open_sink(const char *path, FILE *json, bool shared, record_sink **result, cnn_error *err)
{
    *result = NULL;
    record_sink *sink = calloc(1, sizeof *sink);
    if (!sink) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the record file");
    sink->fd = -1;
    sink->json = json;
    sink->shared = shared;
    if (path) {
        sink->path = strdup(path);
        if (!sink->path) {
            record_sink_close(sink);
            return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the record file");
        }
        if (open_file(sink, err) != CNN_OK) {
            record_sink_close(sink);
            return err->status;
        }
    }
    *result = sink;
    return CNN_OK;
}

cnn_status record_sink_open(const char *path, FILE *json, record_sink **sink, cnn_error *err)
{
    return open_sink(path, json, false, sink, err);
}

cnn_status record_sink_share(const char *path, record_sink **sink, cnn_error *err)
{
    return open_sink(path, NULL, true, sink, err);
}

cnn_status record_sink_hand_down(const record_sink *sink, cnn_error *err)
{
    return sink->fd >= 0 ? record_lock_hand_down(sink->fd, err) : CNN_OK;
}

/* Half a line at the end of a file (a full disk), unless others wrote behind it. */
static bool take_back(int fd, size_t written)
{
    struct stat info;
    const off_t end = lseek(fd, 0, SEEK_CUR);
    if (end < (off_t)written || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size != end) return false;
    return ftruncate(fd, end - (off_t)written) == 0;
}

static cnn_status append_line(record_sink *sink, const char *line, size_t length, cnn_error *err)
{
    size_t written;
    int code = sink->torn ? write_all(sink->fd, "\n", 1, &written) : 0;
    if (code == 0) {
        code = write_all(sink->fd, line, length, &written);
        sink->torn = written > 0 && written < length && !take_back(sink->fd, written);
    }
    /* Not every kind of file can be synced (a pipe cannot); only a disk that refuses the data is an error. */
    if (code == 0 && fsync(sink->fd) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS) code = errno;
    return code == 0 ? CNN_OK : io_error(sink, code, err);
}

/* With its end. */
static cnn_status put_line(record_sink *sink, const cnn_record *record, const char *line, size_t length, cnn_error *err)
{
    cnn_status status = CNN_OK;
    const bool there = sink->there && sink->there(sink->user, record);
    if (sink->path && !there) status = append_line(sink, line, length, err);
    if (sink->json && (fwrite(line, 1, length, sink->json) != length || fflush(sink->json) != 0) && status == CNN_OK)
        status = CNN_FAIL(err, CNN_IO, "cannot write standard output: %s", strerror(errno));
    return status;
}

cnn_status record_write_line(record_sink *sink, const char *line, size_t length, cnn_error *err)
{
    char *own = malloc(length + 2);
    if (!own) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a record");
    memcpy(own, line, length);
    own[length] = '\0';
    cnn_record record = {.object = record_parse(own, length)};
    own[length] = '\n';
    cnn_status status = record.object ? put_line(sink, &record, own, length + 1, err)
                                      : CNN_FAIL(err, CNN_BAD_FORMAT, "'%.40s' is no record", line);
    cJSON_Delete(record.object);
    free(own);
    return status;
}

cnn_status record_write(record_sink *sink, cnn_record *record, cnn_error *err)
{
    cnn_status status = CNN_OK;
    char *line = NULL;
    put_marks(sink, record);
    if (!record || record->failed) {
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a record");
        goto cleanup;
    }
    if (!sink->path && !sink->json) goto cleanup;
    line = cJSON_PrintUnformatted(record->object);
    if (!line) {
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a record");
        goto cleanup;
    }
    size_t length = strlen(line);
    line[length] = '\n'; /* in the place of the end mark: from here on it is bytes, not a string */
    status = put_line(sink, record, line, length + 1, err);
cleanup:
    cJSON_free(line);
    record_free(record);
    return status;
}

void record_sink_close(record_sink *sink)
{
    if (!sink) return;
    if (sink->fd >= 0) close(sink->fd);
    free(sink->path);
    free(sink);
}
