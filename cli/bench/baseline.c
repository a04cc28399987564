/* baseline.c: --save and --against: the run's records are kept in a file of their own, which at the end is compared
 * with an older one, and becomes the baseline. */
#include "cli/baselines.h"
#include "cli/show/compare.h"
#include "cli/table.h"
#include "harness/process/watch.h"
#include "harness/record/record_keeper.h"
#include "parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

cnn_status bench_baseline_check(const cli_options *o, cnn_error *err)
{
    const cnn_status status = o->save != NULL ? cli_baseline_check("save", o->save, err) : CNN_OK;
    return status == CNN_OK && o->against != NULL ? cli_compare_check(o, err) : status;
}

/* Before anything is timed; but a recipe's earlier line may make it, so not when its lines are checked. */
static cnn_status find(const cli_options *o, cnn_error *err)
{
    char path[CLI_BASELINE_PATH_MAX];
    if (o->against == NULL) return CNN_OK;
    const cnn_status status = cli_baseline_find(o->against, path, err);
    return status == CNN_OK ? cli_keep_apart(o->out, "--against", path, err) : status;
}

/* A new file: beside the baseline that it is to become, else among temporary ones. */
static cnn_status make_file(const cli_options *o, char path[CLI_BASELINE_PATH_MAX], cnn_error *err)
{
    const char *folder = getenv("TMPDIR");
    char baseline[CLI_BASELINE_PATH_MAX];
    if (o->save != NULL) {
        if (cli_baseline_path(o->save, true, baseline, err) != CNN_OK) return err->status;
        *strrchr(baseline, '/') = '\0';
        folder = baseline;
    }
    if (snprintf(path, CLI_BASELINE_PATH_MAX, "%s/.benchcnn-XXXXXX", folder != NULL ? folder : "/tmp") >=
        CLI_BASELINE_PATH_MAX)
        return CNN_FAIL(err, CNN_UNAVAILABLE, "%.64s... is too long a path for a file of records", folder);
    const int fd = mkstemp(path);
    if (fd < 0) return CNN_FAIL(err, CNN_IO, "%.400s cannot be made: %s", path, strerror(errno));
    close(fd);
    return CNN_OK;
}

cnn_status bench_baseline_begin(cli_options *o, bench_sums *sums, cnn_error *err)
{
    const bool own = o->save != NULL || (o->against != NULL && o->out == NULL);
    cnn_status status = bench_baseline_check(o, err);
    if (status == CNN_OK) status = find(o, err);
    if (status != CNN_OK || !own) return status;
    if (sums->records[0] == '\0') status = make_file(o, sums->records, err); /* else a run before this one made it */
    if (status == CNN_OK) o->out = sums->records;
    if (status != CNN_OK) sums->records[0] = '\0';
    return status;
}

static cnn_status save(const cli_options *o, const char *records, cnn_error *err)
{
    char path[CLI_BASELINE_PATH_MAX], when[64] = "";
    struct stat old;
    struct tm local;
    cnn_status status = cli_baseline_path(o->save, true, path, err);
    if (status != CNN_OK) return status;
    const bool replaced = stat(path, &old) == 0;
    if (replaced && localtime_r(&old.st_mtime, &local) != NULL) strftime(when, sizeof when, "%Y-%m-%d %H:%M", &local);
    if (rename(records, path) != 0) return CNN_FAIL(err, CNN_IO, "%.400s cannot be written: %s", path, strerror(errno));
    if (!o->json)
        table_print(4, "baseline %s: %s%s%s; `bench --against %s` compares with it\n", o->save, path,
                    replaced ? ", in the place of the one of " : "", when, o->save);
    return CNN_OK;
}

static cnn_status compare(const cli_options *o, const char *records, int *result, cnn_error *err)
{
    char path[CLI_BASELINE_PATH_MAX];
    record_sink *sink = NULL;
    cnn_status status = cli_baseline_find(o->against, path, err);
    if (status == CNN_OK) status = cli_sink_json(o, &sink, err);
    if (status == CNN_OK) {
        const cli_compared files = {.paths = {path, records}, .names = {o->against, "this run"}, .sink = sink};
        status = cli_compare_files(o, &files, result, err);
    }
    record_sink_close(sink);
    return status;
}

int bench_baseline_end(const cli_options *o, bench_sums *sums, int result, cnn_error *err)
{
    const bool well = result == EXIT_HELD;
    const bool kept = o->keeper != NULL && sums->records[0] != '\0';
    cnn_status status = kept ? record_keeper_release(o->keeper, sums->records, err) : CNN_OK;
    if (status == CNN_OK && well && o->against != NULL) status = compare(o, o->out, &result, err);
    if (status == CNN_OK && well && o->save != NULL) status = save(o, sums->records, err);
    if (!well && o->save != NULL)
        table_put(stderr, "benchcnn: baseline %s stays as it was: not all of this run is timed and right\n", o->save);
    if (!well && o->against != NULL)
        table_put(stderr, "benchcnn: nothing is compared with %s: not all of this run is timed and right\n",
                  o->against);
    if (sums->records[0] != '\0') unlink(sums->records); /* what is saved has another name by now */
    sums->records[0] = '\0';
    return status == CNN_OK ? result : cli_fail(err);
}
