/* peaks_kept.c: ceilings that an earlier run measured, in $XDG_CACHE_HOME/benchcnn (~/.cache/benchcnn). A file is of
 * one device, number of threads, set of types, program and libraries, no older than a day: its first line says so, and
 * the others are the ceilings. Whatever is not as it should be counts as none. */
#include "peaks.h"

#include "clocks.h"
#include "harness/base/replace.h"
#include "harness/base/text.h"
#include "harness/record/identity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const double oldest = 24 * 3600;

static bool is_of(const bench_peak *p, const cnn_session *like)
{
    char machine[CNN_NAME_MAX];
    machine_name(like, machine, sizeof machine);
    const bool host = like->impl->device_kind == CNN_DEVICE_CPU;
    return strcmp(p->machine, machine) == 0 && (!host || p->threads == 1 || p->threads == like->threads);
}

/* The folder, made where it is missing. */
static bool folder(char *path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = -1;
    if (cache && cache[0] == '/')
        n = snprintf(path, size, "%s", cache);
    else if (home && home[0] == '/')
        n = snprintf(path, size, "%s/.cache", home);
    if (n < 0 || (size_t)n + 16 >= size) return false;
    (void)mkdir(path, 0700);
    snprintf(path + n, size - (size_t)n, "/benchcnn");
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* "f32", "f32+f64", "tf32". */
static void types_text(const peak_plan *plan, char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < plan->n_types; i++) {
        const cnn_type *t = &plan->types[i];
        const char *name = t->math == CNN_MATH_F32 ? cnn_dtype_name(t->dtype) : cnn_math_name(t->math);
        if (!strstr(text, name)) cnn_append(text, size, "%s%s", text[0] ? "+" : "", name);
    }
}

bool bench_kept_path(const cnn_session *like, const peak_plan *plan, char *path, size_t size)
{
    char libraries[BUILD_ID_MAX], types[64];
    if (!folder(path, size)) return false;
    cnn_libraries_id(like, libraries);
    types_text(plan, types, sizeof types);
    cnn_append(path, size, "/ceilings-%s-%s-%d-%d.jsonl", libraries, types, like->device, like->threads);
    return libraries[0] != '\0' && strlen(path) + 1 < size;
}

/* What the first line says. */
static cnn_record *title(const cnn_session *like)
{
    char machine[CNN_NAME_MAX], build[BUILD_ID_MAX];
    cnn_record *record = record_new("ceilings");
    machine_name(like, machine, sizeof machine);
    cnn_build_id(NULL, 0, build);
    record_text(record, "machine", machine);
    record_text(record, "build", build);
    return record;
}

static bool same_text(const cnn_record *a, const cnn_record *b, const char *key)
{
    const char *s = record_get_text(a, key), *t = record_get_text(b, key);
    return s && t && s[0] && strcmp(s, t) == 0;
}

typedef struct reading {
    bench_peaks *peaks;
    const cnn_session *like;
    cnn_record *title;
    bool known; /* the first line is as it should be */
    int found, strange;
} reading;

static cnn_status read_one(void *user, const cnn_record *record, cnn_error *err)
{
    reading *r = user;
    bench_peak peak;
    const char *kind = record_get_text(record, "kind");
    if (strcmp(kind, "ceilings") == 0)
        r->known = same_text(record, r->title, "machine") && same_text(record, r->title, "build");
    else if (!bench_peak_parse(record, &peak) || !is_of(&peak, r->like) || peak.marks != 0)
        r->strange++;
    else if (r->known && r->found++ >= 0)
        return bench_peaks_add(r->peaks, &peak, err);
    return CNN_OK;
}

bool bench_peaks_kept(bench_peaks *peaks, const cnn_session *like, const peak_plan *plan, double *age)
{
    char path[1024];
    struct stat info;
    bench_peaks read = {.count = 0};
    reading r = {.peaks = &read, .like = like, .title = title(like)};
    cnn_error ignored;
    int bad = 0;
    bool good = bench_kept_path(like, plan, path, sizeof path) && stat(path, &info) == 0 && S_ISREG(info.st_mode);
    *age = good ? difftime(time(NULL), info.st_mtime) : 0;
    good = good && *age >= 0 && *age < oldest && r.title && record_read(path, read_one, &r, &bad, &ignored) == CNN_OK &&
           r.known && bad == 0 && r.strange == 0 && r.found > 0;
    for (int i = 0; good && i < read.count; i++) good = bench_peaks_add(peaks, &read.list[i], &ignored) == CNN_OK;
    bench_peaks_free(&read);
    record_free(r.title);
    return good;
}

static bool write_all(const bench_peaks *peaks, const cnn_session *like, FILE *to)
{
    record_sink *sink;
    cnn_error ignored;
    if (record_sink_open(NULL, to, &sink, &ignored) != CNN_OK) return false;
    bool written = record_write(sink, title(like), &ignored) == CNN_OK;
    for (int i = 0; written && i < peaks->count; i++)
        if (is_of(&peaks->list[i], like))
            written = record_write(sink, bench_peak_record(&peaks->list[i]), &ignored) == CNN_OK;
    record_sink_close(sink);
    return written;
}

void bench_peaks_keep(const bench_peaks *peaks, const cnn_session *like, const peak_plan *plan)
{
    char path[1024], *text = NULL;
    size_t size = 0;
    cnn_error ignored;
    if (!bench_kept_path(like, plan, path, sizeof path)) return;
    (void)unlink(path);
    for (int i = 0; i < peaks->count; i++)
        if (is_of(&peaks->list[i], like) && peaks->list[i].marks != 0) return; /* in doubt */
    FILE *to = open_memstream(&text, &size);
    if (!to) return;
    const bool written = write_all(peaks, like, to);
    if (fclose(to) == 0 && written)
        (void)cnn_replace_file("kept ceilings", path, &(file_piece){text, size}, 1, &ignored);
    free(text);
}
