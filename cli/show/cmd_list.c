/* cmd_list.c: `benchcnn list`: implementations, their algorithms and knobs, and why one is not available here. */
#include "cli/cli.h"
#include "cli/table.h"
#include "harness/base/text.h"
#include "harness/device/call.h"
#include "harness/device/registry.h"
#include "harness/process/watch.h"
#include "parts.h"

#include <string.h>

static void ops_text(uint32_t ops, char *text, size_t size)
{
    text[0] = '\0';
    for (int op = 0; op < CNN_OP_COUNT; op++)
        if (ops & 1u << op) cnn_append(text, size, "%s%s", text[0] != '\0' ? "," : "", cnn_op_name((cnn_op)op));
    if (ops == CNN_TRAINS) cnn_append(text, size, "training");
}

enum { WIDTH = 28 }; /* of most names: those of algorithms are "impl:algorithm" */

static bool probe(const cli_options *options, const cnn_impl *impl, cnn_error *why)
{
    if (!watch_enter(options->watch, impl->name, "asking whether it can run here"))
        return CNN_FAIL(why, CNN_UNAVAILABLE, "asking it ended the process"), false;
    const bool available = cnn_probe(impl, why) == CNN_OK;
    watch_enter(options->watch, NULL, NULL);
    return available;
}

/* What --impl chooses. */
typedef struct shown {
    cnn_choice choices[CNN_MAX_CHOICES];
    int count;
} shown;

/* An algorithm of the implementation, or, with NULL, the implementation. */
static bool is_shown(const shown *s, const cnn_impl *impl, const cnn_algorithm *algorithm)
{
    for (int i = 0; i < s->count; i++)
        if (s->choices[i].impl == impl && (!algorithm || cnn_choice_matches(&s->choices[i], algorithm))) return true;
    return false;
}

static void print_impl(const cli_options *options, const shown *s, const cnn_impl *impl)
{
    cnn_error why;
    const bool available = probe(options, impl, &why);
    table_print(4, "%s %s%s: %s\n", available ? "✓" : "✗", impl->name,
                cnn_impl_timed(impl) ? "" : " (emulated: to be verified, never timed)", impl->doc);
    if (!available) table_print(8, "    not available here: %s\n", why.message);
    for (int i = 0; i < impl->n_algorithms; i++) {
        const cnn_algorithm *a = &impl->algorithms[i];
        if (!is_shown(s, impl, a)) continue;
        char ops[256], name[2 * CNN_NAME_MAX];
        ops_text(a->ops, ops, sizeof ops);
        snprintf(name, sizeof name, "%s:%s", impl->name, a->name);
        table_print(WIDTH + 5, "    %-*s %s\n    %-*s for %s%s\n", WIDTH, name, a->doc, WIDTH, "", ops,
                    a->flags & CNN_ALGO_DETERMINISTIC ? "; deterministic" : "");
    }
    if (impl->n_knobs > 0) printf("    knobs (--set %s.KNOB=VALUE):\n", impl->name);
    for (int i = 0; i < impl->n_knobs; i++) {
        const cnn_knob *k = &impl->knobs[i];
        table_print(WIDTH + 5, "      %-*s %s; %lld to %lld [%lld]\n", WIDTH - 2, k->name, k->doc, (long long)k->min,
                    (long long)k->max, (long long)k->def);
    }
}

static cnn_status write_impl(const cli_options *options, const shown *s, const cnn_impl *impl, record_sink *sink,
                             cnn_error *err)
{
    cnn_error why = {.message = ""};
    cnn_record *record = record_new("implementation");
    record_text(record, "impl", impl->name);
    record_text(record, "doc", impl->doc);
    record_bool(record, "emulated", !cnn_impl_timed(impl));
    record_bool(record, "available", probe(options, impl, &why));
    record_text(record, "why_not", why.message);
    cnn_status status = record_write(sink, record, err);
    for (int i = 0; status == CNN_OK && i < impl->n_algorithms; i++) {
        char ops[256];
        if (!is_shown(s, impl, &impl->algorithms[i])) continue;
        ops_text(impl->algorithms[i].ops, ops, sizeof ops);
        record = record_new("algorithm");
        record_text(record, "impl", impl->name);
        record_text(record, "algorithm", impl->algorithms[i].name);
        record_text(record, "doc", impl->algorithms[i].doc);
        record_text(record, "ops", ops);
        record_bool(record, "deterministic", impl->algorithms[i].flags & CNN_ALGO_DETERMINISTIC);
        status = record_write(sink, record, err);
    }
    for (int i = 0; status == CNN_OK && i < impl->n_knobs; i++) {
        record = record_new("knob");
        record_text(record, "impl", impl->name);
        record_text(record, "knob", impl->knobs[i].name);
        record_text(record, "doc", impl->knobs[i].doc);
        record_int(record, "min", impl->knobs[i].min);
        record_int(record, "max", impl->knobs[i].max);
        record_int(record, "default", impl->knobs[i].def);
        status = record_write(sink, record, err);
    }
    return status;
}

cnn_status args_list(const cli_options *options, cnn_error *err)
{
    if (options->words.count == 0 || strcmp(options->words.items[0], "baselines") == 0) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "list takes no '%.64s': it takes baselines, or no word",
                    options->words.items[0]);
}

int cmd_list(const cli_options *options, cnn_error *err)
{
    shown s = {.count = 0};
    record_sink *sink = NULL;
    const cnn_registry *registry = options->registry;
    int64_t *failed = &options->watch->failed;
    if (options->words.count > 0) return list_baselines(options, err);
    cnn_status status = cli_sink_json(options, &sink, err);
    if (status == CNN_OK) status = cli_report_lost(options, sink, failed, err);
    if (status == CNN_OK) status = cnn_choices_parse(registry, options->impl, s.choices, &s.count, err);
    for (int i = 0; status == CNN_OK && i < cnn_impl_count(registry); i++) {
        const cnn_impl *impl = cnn_impl_at(registry, i);
        if (!is_shown(&s, impl, NULL)) continue;
        if (options->json)
            status = write_impl(options, &s, impl, sink, err);
        else
            print_impl(options, &s, impl);
    }
    for (const cnn_left_out *out = cnn_impls_left_out(); !options->json && !options->impl && out->name != NULL; out++)
        table_print(4, "✗ %s: not built: %s\n", out->name, out->why);
    record_sink_close(sink);
    return status != CNN_OK ? cli_fail(err) : *failed > 0 ? EXIT_FAILED : EXIT_HELD;
}
