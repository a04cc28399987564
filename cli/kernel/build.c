/* build.c: --kernel: what options ask for, compiled before any process is started that calls it. What comes of it is
 * kept by an open file that has no name any more: /proc/PID/fd/N, which debuggers and sanitizers can read, too. So
 * nothing is left behind, however the run ends. */
#include "parts.h"

#include "cli/options/options.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- What was asked for. */

/* "kernel.NAME=VALUE,...", of a pair "kernel+cpu.kernel.NAME=VALUE", makes NAME a name that expressions may hold; its
 * default is the first value. */
static void add_knob(kernel_spec *spec, const char *text)
{
    static const char own[] = "kernel.";
    const size_t end = strcspn(text, "="), before = strlen(own);
    size_t first = end;
    while (first > 0 && (isalnum((unsigned char)text[first - 1]) || text[first - 1] == '_')) first--;
    if (first == end || end - first >= KERNEL_KNOB_MAX || isdigit((unsigned char)text[first])) return;
    if (first < before || strncmp(text + first - before, own, before) != 0) return;
    if (first > before && text[first - before - 1] != '.') return;
    kernel_knob knob = {.def = 1};
    snprintf(knob.name, sizeof knob.name, "%.*s", (int)(end - first), text + first);
    const long long value = text[end] == '=' ? strtoll(text + end + 1, NULL, 10) : 1;
    if (value >= 0 && value <= INT_MAX) knob.def = value; /* else it is refused as a setting */
    for (int i = 0; i < spec->n_knobs; i++)
        if (strcmp(spec->knobs[i].name, knob.name) == 0) return;
    if (spec->n_knobs < KERNEL_KNOBS_MAX) spec->knobs[spec->n_knobs++] = knob;
}

static cnn_status read_spec(const cli_options *o, kernel_spec *spec, cnn_error *err)
{
    cli_type_set types;
    *spec =
        (kernel_spec){.kernel = o->kernel, .args = o->args, .grid = o->grid, .block = o->block, .shared = o->shared};
    const uint32_t ops = cli_ops(o, err);
    if (ops == 0 || cli_types(o, &types, err) != CNN_OK) return err->status;
    if (types.count > 1)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "a kernel (--kernel) is of one --dtype and one --layout: name one of each");
    while (!(ops >> spec->op & 1u)) spec->op = (cnn_op)(spec->op + 1);
    if (ops != 1u << spec->op)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--op %.100s: a kernel (--kernel) is of one operation: name one", o->op);
    spec->type = types.types[0];
    for (int i = 0; i < o->set.count; i++) add_knob(spec, o->set.items[i]);
    for (int i = 0; i < o->words.count; i++) add_knob(spec, o->words.items[i]);
    return CNN_OK;
}

/* What --args says, and options need not say again: the direction, and that there is no bias. */
static void take_over(cli_options *o, const kernel *k)
{
    if (o->net != NULL) return;
    if (o->dir == NULL) o->dir = cnn_dir_name(kernel_dir(k));
    if (!kernel_takes_bias(k) && cli_takes(o->row, cli_row("no-bias")->commands)) o->no_bias = true;
}

/* FNV-1a. */
static uint64_t checksum_of(int file)
{
    unsigned char bytes[4096];
    uint64_t sum = 0xcbf29ce484222325u;
    off_t at = 0;
    for (ssize_t n; (n = pread(file, bytes, sizeof bytes, at)) > 0; at += n)
        for (ssize_t i = 0; i < n; i++) sum = (sum ^ bytes[i]) * 0x100000001b3u;
    return sum;
}

/* By the process that loads it: a debugger finds it there, too. */
static void name_code(cli_options *o, int object)
{
    snprintf(o->kernel_code, sizeof o->kernel_code, "/proc/%ld/fd/%d", (long)getpid(), object);
}

void cli_kernel_forked(cli_options *o)
{
    const char *number = strrchr(o->kernel_code, '/');
    if (number != NULL) name_code(o, atoi(number + 1));
}

cnn_status cli_kernel_build(cli_options *o, cnn_error *err)
{
    kernel_spec spec;
    int object = -1;
    if (o->kernel == NULL || o->kernel_made != NULL) return CNN_OK;
    if (o->plugin.count == CLI_LIST_MAX)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--kernel: too many plug-ins beside it");
    cnn_status status = read_spec(o, &spec, err);
    if (status == CNN_OK) status = kernel_new(&spec, &o->kernel_made, err);
    if (status != CNN_OK) return status;
    status = kernel_compile(o->kernel_made, o->kernel_command, &object, err);
    if (status != CNN_OK) return status;
    kernel_built(o->kernel_made, o->kernel_command, checksum_of(object));
    name_code(o, object);
    o->plugin.items[o->plugin.count++] = o->kernel_code;
    take_over(o, o->kernel_made);
    return CNN_OK;
}

cnn_status cli_kernel_load(const cli_options *o, cnn_registry *registry, cnn_error *err)
{
    const cnn_status status = kernel_load(o->kernel_made, o->kernel_code, err);
    (void)cnn_thread_restore(); /* -ffast-math links a constructor in that flushes denormal numbers */
    return status == CNN_OK ? cnn_registry_put(registry, kernel_impl(o->kernel_made), err) : status;
}

cnn_status cli_kernel_take(cli_options *o, cnn_registry *registry, int object, const char *compiler, cnn_error *err)
{
    kernel_spec spec;
    cnn_status status = read_spec(o, &spec, err);
    if (status == CNN_OK) status = kernel_new(&spec, &o->kernel_made, err);
    if (status != CNN_OK) return status;
    kernel_built(o->kernel_made, compiler, checksum_of(object));
    name_code(o, object);
    return cli_kernel_load(o, registry, err);
}

void cli_kernel_free(cli_options *o)
{
    kernel_free(o->kernel_made);
    o->kernel_made = NULL;
}
