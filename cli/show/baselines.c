/* baselines.c: `benchcnn list baselines`: the records that `bench --save` keeps. */
#include "cli/baselines.h"
#include "bench/figures/compare.h"
#include "cli/table.h"
#include "parts.h"

#include <sys/stat.h>
#include <time.h>

typedef struct listing {
    const cli_options *options;
    record_sink *sink;
    int count;
} listing;

static cnn_status list_one(void *user, const char *name, const char *path, cnn_error *err)
{
    listing *l = user;
    const figure_choice all = {.across = NULL};
    figure_set set = {.count = 0};
    cnn_error why = {.message = ""};
    struct stat file;
    struct tm local;
    char when[32] = "";
    int runs = 0;
    const bool good = figures_read(path, &all, &set, &why) == CNN_OK;
    const int figures = set.count;
    for (int i = 0; i < figures; i++) runs = set.list[i].n_runs > runs ? set.list[i].n_runs : runs;
    figures_free(&set);
    if (stat(path, &file) == 0 && localtime_r(&file.st_mtime, &local) != NULL)
        strftime(when, sizeof when, "%Y-%m-%d %H:%M", &local);
    l->count++;
    if (!l->options->json) {
        if (good)
            table_print(4, "%-16s %s  %d figure%s, %d run%s  %s\n", name, when, figures, figures == 1 ? "" : "s", runs,
                        runs == 1 ? "" : "s", path);
        else
            table_print(4, "%-16s %s  %s\n", name, when, why.message);
        return CNN_OK;
    }
    cnn_record *record = record_new("baseline");
    record_text(record, "baseline", name);
    record_text(record, "path", path);
    record_int(record, "figures", figures);
    record_int(record, "runs", runs);
    return record_write(l->sink, record, err);
}

int list_baselines(const cli_options *options, cnn_error *err)
{
    listing l = {.options = options};
    cnn_status status = cli_sink_json(options, &l.sink, err);
    if (status == CNN_OK) status = cli_each_baseline(list_one, &l, err);
    record_sink_close(l.sink);
    if (status != CNN_OK) return cli_fail(err);
    if (l.count == 0 && !options->json) printf("no baselines: `benchcnn bench --save NAME` makes one\n");
    return EXIT_HELD;
}
