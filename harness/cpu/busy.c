/* busy.c: the clocks of all threads, before and after. */
#include "busy.h"

#include "harness/base/grow.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static bool read_clock(clockid_t clock, double *seconds)
{
    struct timespec t;
    if (clock_gettime(clock, &t) != 0) return false;
    *seconds = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    return true;
}

/* Linux: the clock of any thread of this process is named by its id; that of any process likewise. */
static clockid_t clock_of(int id)
{
    return id > 0 ? (clockid_t)(~(unsigned)id << 3 | 6) : (clockid_t)(~(unsigned)-id << 3 | 2);
}

static double now(clockid_t clock)
{
    double seconds = 0;
    (void)read_clock(clock, &seconds);
    return seconds;
}

static void forget(busy_look *look)
{
    free(look->list);
    *look = (busy_look){0};
}

static bool add(busy_look *look, int id)
{
    double seconds;
    cnn_error ignored;
    if (!read_clock(clock_of(id), &seconds)) return true; /* it has just ended */
    busy_thread *t = cnn_add_item(&look->list, &look->count, &look->capacity, sizeof *t, "threads", &ignored);
    if (t) *t = (busy_thread){id, seconds};
    return t != NULL;
}

/* What a thread has started, and what this has, as far as the system tells. */
static bool add_children(busy_look *look, int process, int thread, int depth);

static bool add_descendants(busy_look *look, int process, int depth)
{
    char path[64];
    bool room = true;
    snprintf(path, sizeof path, "/proc/%d/task", process);
    DIR *folder = depth > 0 ? opendir(path) : NULL;
    if (!folder) return true;
    for (const struct dirent *e = readdir(folder); e && room; e = readdir(folder))
        if (atoi(e->d_name) > 0) room = add_children(look, process, atoi(e->d_name), depth - 1);
    closedir(folder);
    return room;
}

static bool add_children(busy_look *look, int process, int thread, int depth)
{
    char path[96];
    int child;
    bool room = true;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", process, thread);
    FILE *file = fopen(path, "re");
    if (!file) return true;
    while (room && fscanf(file, "%d", &child) == 1) room = add(look, -child) && add_descendants(look, child, depth);
    fclose(file);
    return room;
}

static double reaped_seconds(void)
{
    struct rusage used;
    if (getrusage(RUSAGE_CHILDREN, &used) != 0) return 0;
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* The threads whose clocks can be read; none where the caller is not among them, for then /proc is not this one's. */
static void look_now(busy_look *look)
{
    enum { GENERATIONS = 4 };
    bool known = false, room = true;
    DIR *folder = opendir("/proc/self/task");
    look->count = 0;
    look->reaped = reaped_seconds();
    look->exact = false;
    if (!folder) return;
    look->process = now(CLOCK_PROCESS_CPUTIME_ID);
    for (const struct dirent *e = readdir(folder); e && room; e = readdir(folder)) {
        const int id = atoi(e->d_name);
        if (id <= 0) continue;
        known = known || id == gettid();
        room = add(look, id) && add_children(look, getpid(), id, GENERATIONS);
    }
    closedir(folder);
    if (!known || !room) look->count = 0;
}

static const busy_thread *find(const busy_look *look, int id)
{
    for (int i = 0; i < look->count; i++)
        if (look->list[i].id == id) return &look->list[i];
    return NULL;
}

static double seconds_of(const busy_look *look, int id)
{
    const busy_thread *t = find(look, id);
    return t ? t->seconds : 0; /* it had not begun */
}

static bool same_but_for_caller(const busy_look *a, const busy_look *b)
{
    if (a->count != b->count) return false;
    for (int i = 0; i < b->count; i++)
        if (b->list[i].id != gettid() && b->list[i].seconds != seconds_of(a, b->list[i].id)) return false;
    return true;
}

/* What the process says of threads that run right now is up to some milliseconds old: waits until none does. */
static void look_when_quiet(busy_look *look)
{
    enum { TRIES = 7 };
    struct timespec pause = {.tv_nsec = 100000}; /* twice what the harness's own workers spin */
    busy_look before = {0};
    for (int i = 0; i < TRIES && !look->exact; i++, pause.tv_nsec *= 2) {
        look_now(&before);
        nanosleep(&pause, NULL);
        look_now(look);
        look->exact = same_but_for_caller(&before, look);
    }
    forget(&before);
}

void busy_start(busy_span *span)
{
    *span = (busy_span){.wall = 0};
    look_when_quiet(&span->before);
    span->wall = -now(CLOCK_MONOTONIC);
}

void busy_pause(busy_span *span) { span->paused_at = now(CLOCK_THREAD_CPUTIME_ID); }
void busy_go_on(busy_span *span) { span->set_aside += now(CLOCK_THREAD_CPUTIME_ID) - span->paused_at; }

/* What children that ended had done since the first look. */
static double of_the_reaped(const busy_span *span)
{
    double seconds = span->quiet.reaped - span->before.reaped;
    for (int i = 0; i < span->before.count; i++) {
        const busy_thread *t = &span->before.list[i];
        if (t->id < 0 && !find(&span->quiet, t->id)) seconds -= t->seconds;
    }
    return seconds > 0 ? seconds : 0;
}

/* What threads that ended had done since the first look. */
static double of_the_ended(const busy_span *span)
{
    const busy_look *before = &span->before, *after = &span->quiet;
    if (!before->exact || !after->exact) return 0;
    double seconds = after->process - before->process;
    for (int i = 0; i < after->count; i++)
        if (after->list[i].id > 0) seconds -= after->list[i].seconds - seconds_of(before, after->list[i].id);
    return seconds > 0 ? seconds : 0;
}

static int larger_first(const void *a, const void *b)
{
    const busy_thread *s = a, *t = b;
    return (t->seconds > s->seconds) - (t->seconds < s->seconds);
}

/* Turns the last look into what each did since the first. */
static void subtract(busy_span *span)
{
    busy_look *after = &span->after;
    for (int i = 0; i < after->count; i++) {
        after->list[i].seconds -= seconds_of(&span->before, after->list[i].id);
        if (after->list[i].id == gettid()) after->list[i].seconds -= span->set_aside;
    }
}

static void add_the_ended(busy_span *span, double seconds)
{
    busy_look *look = &span->after;
    cnn_error ignored;
    for (; seconds > 0; seconds -= span->wall) {
        busy_thread *t = cnn_add_item(&look->list, &look->count, &look->capacity, sizeof *t, "threads", &ignored);
        if (!t) return;
        t->seconds = seconds < span->wall ? seconds : span->wall;
    }
}

busy_work busy_stop(busy_span *span, int most)
{
    busy_work work = {.seconds = 0};
    double done = 0;
    span->wall += now(CLOCK_MONOTONIC);
    look_now(&span->after);
    look_when_quiet(&span->quiet);
    if (span->before.count > 0 && span->after.count > 0 && span->wall > 0) {
        subtract(span);
        const double ended = of_the_ended(span), reaped = of_the_reaped(span);
        add_the_ended(span, ended);
        add_the_ended(span, reaped);
        const busy_look *each = &span->after;
        qsort(each->list, (size_t)each->count, sizeof *each->list, larger_first);
        for (int i = 0; i < each->count; i++) work.seconds += each->list[i].seconds;
        for (int i = most; i < each->count; i++) work.beyond += each->list[i].seconds;
        for (; done < 0.9 * work.seconds && work.threads < each->count; work.threads++)
            done += each->list[work.threads].seconds;
        work.wall = span->wall;
        work.exact = span->before.exact && span->quiet.exact;
    }
    forget(&span->before);
    forget(&span->quiet);
    forget(&span->after);
    return work;
}

/* The letter behind the name, which may hold anything. */
static bool runs(const char *folder, const char *id)
{
    char path[96], text[128];
    snprintf(path, sizeof path, "%s/%.20s/stat", folder, id);
    FILE *file = fopen(path, "re");
    if (!file) return false;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *name_end = strrchr(text, ')');
    return name_end && strncmp(name_end, ") R", 3) == 0;
}

static bool is_among(int id, const int *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i] == id) return true;
    return false;
}

/* Whether a thread among those in the folder runs that is none of the `count` ids `but`, nor the caller. */
static bool any_runs(const char *path, const int *but, int count)
{
    bool any = false;
    DIR *folder = opendir(path);
    if (!folder) return false;
    for (const struct dirent *e = readdir(folder); e && !any; e = readdir(folder)) {
        const int id = atoi(e->d_name);
        any = id > 0 && id != gettid() && !is_among(id, but, count) && runs(path, e->d_name);
    }
    closedir(folder);
    return any;
}

bool busy_others(const int *but, int count) { return any_runs("/proc/self/task", but, count); }

bool busy_process(int process)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", process);
    return any_runs(path, NULL, 0);
}
