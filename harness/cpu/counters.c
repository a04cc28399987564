/* counters.c: a descriptor of perf_event_open for each event and thread. */
#include "counters.h"

#include "harness/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS_MAX = 1024 };

typedef enum counter_mode { USER, ALL } counter_mode;
typedef struct counter_row {
    const char *name;
    uint64_t config;
    uint32_t type;
    counter_mode mode;
} counter_row;

static const counter_row rows[COUNTER_COUNT] = {
#define COUNTER(name, type, config, mode) {#name, config, type, mode},
#include "counters.inc"
};

struct counters {
    uint32_t events;
    int threads;
    int why[COUNTER_COUNT];  /* the errno of what was refused; 0: counted, or not asked for */
    int *fds[COUNTER_COUNT]; /* one a thread; NULL: not counted */
};

const char *counter_name(counter_event event) { return rows[event].name; }

static int find(const char *word, size_t length)
{
    for (int i = 0; i < COUNTER_COUNT; i++)
        if (strlen(rows[i].name) == length && strncmp(rows[i].name, word, length) == 0) return i;
    return -1;
}

static cnn_status unknown(const char *word, size_t length, cnn_error *err)
{
    char names[512] = "";
    for (int i = 0; i < COUNTER_COUNT; i++) cnn_append(names, sizeof names, "%s%s", i > 0 ? ", " : "", rows[i].name);
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "no counter is named '%.*s'; there are all, %s",
                    length < 40 ? (int)length : 40, word, names);
}

cnn_status counters_parse(const char *list, uint32_t *events, cnn_error *err)
{
    *events = 0;
    if (strcmp(list, "all") == 0) {
        *events = (1u << COUNTER_COUNT) - 1;
        return CNN_OK;
    }
    for (const char *word = list;; word++) {
        const size_t length = strcspn(word, ",");
        const int event = find(word, length);
        if (event < 0) return unknown(word, length, err);
        *events |= 1u << event;
        word += length;
        if (*word == '\0') return CNN_OK;
    }
}

/* ---- Opening. */

static int threads_of_this(int *ids)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    if (!folder) {
        ids[0] = 0; /* the caller */
        return 1;
    }
    for (const struct dirent *e = readdir(folder); e && count < THREADS_MAX; e = readdir(folder))
        if (atoi(e->d_name) > 0) ids[count++] = atoi(e->d_name);
    closedir(folder);
    return count;
}

static int open_one(const counter_row *row, int thread)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = row->type,
                                   .config = row->config,
                                   .disabled = 1,
                                   .inherit = 1,
                                   .exclude_kernel = row->mode == USER,
                                   .exclude_hv = 1,
                                   .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
    return (int)syscall(SYS_perf_event_open, &attr, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void close_event(counters *c, int event)
{
    for (int t = 0; c->fds[event] && t < c->threads; t++)
        if (c->fds[event][t] >= 0) close(c->fds[event][t]);
    free(c->fds[event]);
    c->fds[event] = NULL;
}

/* A thread that has ended meanwhile counts nothing; any other refusal is the event's. */
static cnn_status open_event(counters *c, int event, const int *ids, cnn_error *err)
{
    c->fds[event] = malloc((size_t)c->threads * sizeof *c->fds[event]);
    if (!c->fds[event]) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the counters of %d threads", c->threads);
    for (int t = 0; t < c->threads; t++) c->fds[event][t] = -1;
    for (int t = 0; t < c->threads && c->why[event] == 0; t++) {
        c->fds[event][t] = open_one(&rows[event], ids[t]);
        if (c->fds[event][t] < 0 && errno != ESRCH) c->why[event] = errno;
    }
    if (c->why[event] != 0) close_event(c, event);
    return CNN_OK;
}

cnn_status counters_open(uint32_t events, counters **result, cnn_error *err)
{
    int ids[THREADS_MAX];
    cnn_status status = CNN_OK;
    counters *c = calloc(1, sizeof *c);
    *result = c;
    if (!c) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for counters");
    c->events = events;
    c->threads = threads_of_this(ids);
    for (int event = 0; event < COUNTER_COUNT && c->threads == THREADS_MAX; event++)
        if (events & 1u << event) c->why[event] = EMFILE; /* some may be left out: their sum would be too small */
    for (int event = 0; status == CNN_OK && event < COUNTER_COUNT; event++)
        if (events & 1u << event) status = open_event(c, event, ids, err);
    if (status == CNN_OK) return CNN_OK;
    counters_close(c);
    *result = NULL;
    return status;
}

void counters_close(counters *c)
{
    if (!c) return;
    for (int event = 0; event < COUNTER_COUNT; event++) close_event(c, event);
    free(c);
}

/* ---- Counting. */

static void tell(counters *c, unsigned long request)
{
    for (int event = 0; event < COUNTER_COUNT; event++)
        for (int t = 0; c->fds[event] && t < c->threads; t++)
            if (c->fds[event][t] >= 0) ioctl(c->fds[event][t], request, 0);
}

void counters_start(counters *c) { tell(c, PERF_EVENT_IOC_ENABLE); }

/* Of all threads; each thread's is scaled up by the share of its time in which it was counted. */
static int64_t count_of(const counters *c, int event, double *share)
{
    double sum = 0, enabled = 0, ran = 0;
    for (int t = 0; t < c->threads; t++) {
        uint64_t value[3]; /* the count; nanoseconds that it was switched on; of these, in which it counted */
        if (c->fds[event][t] < 0 || read(c->fds[event][t], value, sizeof value) != (ssize_t)sizeof value) continue;
        enabled += (double)value[1];
        ran += (double)value[2];
        if (value[2] > 0) sum += (double)value[0] * ((double)value[1] / (double)value[2]);
    }
    *share = enabled > 0 ? ran / enabled : 1;
    return (int64_t)(sum + 0.5);
}

void counters_stop(counters *c, counter_report *report)
{
    tell(c, PERF_EVENT_IOC_DISABLE);
    report->events = c->events;
    report->share = 1;
    for (int event = 0; event < COUNTER_COUNT; event++) {
        double share = 1;
        report->count[event] = c->fds[event] ? count_of(c, event, &share) : -1;
        report->why[event] = c->why[event];
        if (share > 0) {
            report->share = share < report->share ? share : report->share;
            continue;
        }
        report->count[event] = -1; /* it never had its turn */
        report->why[event] = EBUSY;
    }
}

const char *counter_why(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return "this user may not count it: sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON";
    case EMFILE:
        return "too many files are open: ask for fewer counters, or raise `ulimit -n`";
    case EBUSY:
        return "the processor had no register free for it: ask for fewer counters";
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return "this processor does not count it, or its virtual machine does not pass it on";
    case ENOSYS:
        return "this system has no perf_event_open";
    default:
        return strerror(error);
    }
}
