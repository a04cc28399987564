/* plugins.c: --plugin: foreign code in this process, which another one watches (watch.c). With --isolate one that ends
 * the process while it is loaded is left out by the next, a failure with its file's name. */
#include "cli/options/options.h"
#include "harness/process/watch.h"
#include "harness/ranks/ranks.h"
#include "table.h"

#include "harness/base/text.h"

#include <string.h>

static const char loading[] = "loading it";

static bool known(const cnn_registry *registry, const char *text, size_t length)
{
    char name[CNN_NAME_MAX];
    cnn_error err;
    const char *plus = memchr(text, '+', length); /* A+B: both */
    if (plus != NULL)
        return known(registry, text, (size_t)(plus - text)) &&
               known(registry, plus + 1, length - (size_t)(plus + 1 - text));
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    return strpbrk(name, "*?[") != NULL || cnn_impl_find(registry, name, &err) != NULL;
}

/* --impl and --set without the names that nobody has any more. */
static void leave_out(cli_options *options)
{
    char copy[sizeof options->impl_left], *rest = copy;
    cli_list *set = &options->set;
    int kept = 0;
    for (int i = 0; i < set->count; i++)
        if (known(options->registry, set->items[i], strcspn(set->items[i], ".="))) set->items[kept++] = set->items[i];
    set->count = kept;
    if (options->impl == NULL || strlen(options->impl) >= sizeof copy) return;
    strcpy(copy, options->impl);
    options->impl_left[0] = '\0';
    while (rest != NULL) {
        const char *word = strsep(&rest, ",");
        if (!known(options->registry, word, strcspn(word, ":"))) continue;
        if (options->impl_left[0] != '\0') strcat(options->impl_left, ",");
        strcat(options->impl_left, word);
    }
    options->none_left = options->impl_left[0] == '\0';
    options->impl = options->impl_left;
}

/* Who brings plug-ins without a word means them. */
static void choose_plugins(cli_options *options, const cnn_registry *registry, int first)
{
    if (options->impl != NULL || !cli_takes(options->row, cli_row("set")->commands)) return;
    for (int i = first; i < cnn_impl_count(registry); i++)
        cnn_append(options->impl_left, sizeof options->impl_left, "%s%s", i > first ? "," : "",
                   cnn_impl_at(registry, i)->name);
    options->none_left = options->impl_left[0] == '\0';
    options->impl = options->impl_left;
}

/* --impl A+B: each pair becomes an implementation. */
static cnn_status join_pairs(const cli_options *options, cnn_registry *registry, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (const char *word = options->impl; status == CNN_OK && word != NULL && *word != '\0';) {
        char name[CNN_NAME_MAX];
        const size_t length = strcspn(word, ","), name_length = strcspn(word, ",:");
        snprintf(name, sizeof name, "%.*s", (int)name_length, word);
        if (strchr(name, '+') != NULL && options->separate)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                            "%.64s: a pair runs in one process: --separate takes implementations alone", name);
        if (strchr(name, '+') != NULL) status = cnn_registry_join(registry, name, err);
        word += length + (word[length] == ',');
    }
    return status;
}

static cnn_status load(cli_options *options, cnn_registry *registry, const char *path, bool kernel, cnn_error *err)
{
    if (options->separate) return cli_separate_load(options, registry, path, kernel, err);
    return kernel ? cli_kernel_load(options, registry, err) : cnn_registry_load(registry, path, err);
}

cnn_status cli_load_plugins(cli_options *options, cnn_registry *registry, cnn_error *err)
{
    run_watch *w = options->watch;
    const int built_in = cnn_impl_count(registry);
    if (options->separate && ranks_launched())
        return CNN_FAIL(err, CNN_UNSUPPORTED, "--separate has no use over ranks");
    for (int i = 0; i < options->plugin.count; i++) {
        const bool kernel = strcmp(options->plugin.items[i], options->kernel_code) == 0;
        const char *path = kernel ? options->kernel : options->plugin.items[i];
        const size_t before = strlen(w->loaded), room = sizeof w->loaded;
        const char *comma = before > 0 ? "; " : "";
        if (!watch_enter(w, path, loading)) {
            options->n_lost++;
            continue;
        }
        cnn_append(w->loaded, room, "%s%s", comma, path); /* until it says its name */
        const cnn_status status = load(options, registry, path, kernel, err);
        watch_enter(w, NULL, NULL);
        if (status != CNN_OK) return status;
        w->loaded[before] = '\0';
        cnn_append(w->loaded, room, "%s%s, %s", comma, cnn_impl_at(registry, cnn_impl_count(registry) - 1)->name, path);
    }
    if (options->n_lost > 0) leave_out(options);
    if (options->plugin.count > 0) choose_plugins(options, registry, built_in);
    return join_pairs(options, registry, err);
}

static cnn_status report_death(const cli_options *options, const watch_death *d, record_sink *sink, cnn_error *err)
{
    const bool plugin = strcmp(d->doing, loading) == 0;
    char reason[WATCH_DOING_MAX + WATCH_HOW_MAX + 2], typed[CLI_REPEAT_MAX];
    snprintf(reason, sizeof reason, "%s: %s", d->doing, d->how);
    if (!options->json)
        table_put(stdout, "FAILED      %s%s | %s\n    repeat with: %s\n", plugin ? "plug-in " : "", d->key, reason,
                  cli_typed(options, options->command_line, typed, sizeof typed));
    cnn_record *record = record_new("implementation");
    record_text(record, "impl", plugin ? "" : d->key);
    if (plugin) record_text(record, "plugin", d->key);
    record_text(record, "state", "FAILED");
    record_text(record, "reason", reason);
    record_text(record, "repro", options->command_line);
    return record_write(sink, record, err);
}

cnn_status cli_begin_piece(const cli_options *options, int64_t number, const char *impl, const char *doing,
                           record_sink *sink, bool *mine, cnn_error *err)
{
    run_watch *w = options->watch;
    *mine = watch_take(w, number);
    if (!*mine) return CNN_OK;
    const watch_death *died = watch_find(w, NULL, number);
    *mine = died == NULL;
    if (*mine) watch_enter(w, impl, doing);
    if (*mine) return CNN_OK;
    watch_done(w);
    w->failed++;
    return report_death(options, died, sink, err);
}

void cli_end_piece(const cli_options *options)
{
    watch_enter(options->watch, NULL, NULL);
    watch_done(options->watch);
}

cnn_status cli_report_lost(const cli_options *options, record_sink *sink, int64_t *count, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < options->watch->n_deaths; i++) {
        watch_death *d = &options->watch->deaths[i];
        if (d->told || d->number >= 0) continue;
        d->told = true;
        ++*count;
        status = report_death(options, d, sink, err);
    }
    return status;
}
