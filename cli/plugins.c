/* plugins.c: --plugin: foreign code in this process, which another one watches (watch.c). With --isolate each one is
 * first loaded, opened and closed in a process of its own: one that does not survive that is left out, a failure with
 * its name, and the rest goes on. What happens later is isolate.c's to survive; without --isolate a crash or an exit()
 * is at least explained. */
#include "cli/options/options.h"
#include "cli/process/isolate.h"
#include "cli/process/watch.h"
#include "table.h"

#include "harness/base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- Trying one. */

typedef struct attempt {
    const cli_options *options;
    cnn_registry *registry;
    const char *path;
} attempt;

/* In a child. What is refused in words will be so again, outside. */
static void try_plugin(void *user, isolate_page *page)
{
    const attempt *a = user;
    const cnn_session_params params = cli_session_params(a->options);
    cnn_session session;
    cnn_error err;
    if (cnn_registry_load(a->registry, a->path, &err) != CNN_OK) return;
    const cnn_impl *impl = cnn_impl_at(a->registry, cnn_impl_count(a->registry) - 1);
    snprintf(page->impl, sizeof page->impl, "%s", impl->name);
    if (cnn_session_open(impl, &params, &session, &err) == CNN_OK) cnn_session_close(&session);
}

static cnn_status survives(cli_options *options, cnn_registry *registry, const char *path, bool *survived,
                           cnn_error *err)
{
    attempt a = {options, registry, path};
    cli_lost *lost = &options->lost[options->n_lost];
    if (options->n_lost == CLI_LOST_MAX)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "plug-in %.200s: %d others have crashed or hung", path, CLI_LOST_MAX);
    cnn_status status = isolate_try(options->isolate_limit, try_plugin, &a, survived, lost->how, lost->impl, err);
    if (status != CNN_OK || *survived) return status;
    lost->plugin = path;
    options->n_lost++;
    return CNN_OK;
}

/* ---- Without it. */

static bool known(const cnn_registry *registry, const char *text, size_t length)
{
    char name[CNN_NAME_MAX];
    cnn_error err;
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

cnn_status cli_load_plugins(cli_options *options, cnn_registry *registry, cnn_error *err)
{
    if (options->plugin.count == 0) return CNN_OK;
    char *loaded = options->watch->loaded;
    const size_t room = sizeof options->watch->loaded;
    options->watch->isolated = options->isolate;
    for (int i = 0; i < options->plugin.count; i++) {
        const char *path = options->plugin.items[i];
        bool survived = true;
        cnn_status status = CNN_OK;
        if (options->isolate) status = survives(options, registry, path, &survived, err);
        const size_t before = strlen(loaded);
        cnn_append(loaded, room, "%s%s", before > 0 ? "; " : "", path); /* until it says its name */
        if (status == CNN_OK && survived) status = cnn_registry_load(registry, path, err);
        if (status != CNN_OK) return status;
        loaded[before] = '\0';
        if (survived)
            cnn_append(loaded, room, "%s%s, %s", before > 0 ? "; " : "",
                       cnn_impl_at(registry, cnn_impl_count(registry) - 1)->name, path);
    }
    if (options->n_lost > 0) leave_out(options);
    return CNN_OK;
}

cnn_status cli_report_ended(const cli_options *options, const char *name, const char *plugin, const char *doing,
                            const char *how, record_sink *sink, cnn_error *err)
{
    char reason[512];
    snprintf(reason, sizeof reason, "%s: %s", doing, how);
    if (!options->json)
        table_put(stdout, "FAILED      %s%s%s%s | %s\n    repeat with: %s\n", name,
                  name[0] != '\0' && plugin != NULL ? ", " : "", plugin != NULL ? "plug-in " : "",
                  plugin != NULL ? plugin : "", reason, options->command_line);
    cnn_record *record = record_new("implementation");
    record_text(record, "impl", name);
    if (plugin != NULL) record_text(record, "plugin", plugin);
    record_text(record, "state", "FAILED");
    record_text(record, "reason", reason);
    record_text(record, "repro", options->command_line);
    return record_write(sink, record, err);
}

cnn_status cli_report_lost(const cli_options *options, record_sink *sink, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < options->n_lost; i++) {
        const cli_lost *lost = &options->lost[i];
        const char *doing = lost->impl[0] != '\0' ? "opening and closing it" : "loading it";
        status = cli_report_ended(options, lost->impl, lost->plugin, doing, lost->how, sink, err);
    }
    return status;
}
