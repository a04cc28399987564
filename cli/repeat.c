/* repeat.c: the command that repeats one case: everything that decides what it computes, whatever was asked for. */
#include "cli.h"

#include "harness/base/text.h"
#include "impl_kernel/kernel.h"

#include <string.h>

/* What a descriptor does not say. */
static void append_kind(const cnn_problem *p, char *text, size_t size)
{
    const bool conv = cnn_is_conv(p);
    if (conv && p->u.conv.flip) cnn_append(text, size, " --mode convolution");
    if (conv ? !p->u.conv.bias : p->op == CNN_OP_FC && !p->u.fc.bias) cnn_append(text, size, " --no-bias");
}

/* How a network's steps are made. */
static void append_steps(const cli_options *o, int64_t batch, char *text, size_t size)
{
    cnn_append(text, size, " --batch %lld", (long long)batch);
    if (o->fuse) cnn_append(text, size, " --fuse");
    if (o->offload) cnn_append(text, size, " --offload");
    if (o->recompute) cnn_append(text, size, " --recompute");
    if (cli_given(o, "streams")) cnn_append(text, size, " --streams %lld", (long long)o->streams);
}

/* A knob of --kernel is there only if it is set. */
static bool is_own_knob(const cli_options *o, const cnn_impl *impl, const char *name)
{
    return o->kernel_made != NULL && strncmp(impl->name, "kernel", strlen("kernel")) == 0 &&
           kernel_has_knob(o->kernel_made, name);
}

static void append_kernel(const cli_options *o, char *text, size_t size)
{
    const struct {
        const char *name, *value;
    } options[] = {
        {"kernel", o->kernel}, {"grid", o->grid}, {"block", o->block}, {"shared", o->shared}, {"args", o->args}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].value != NULL) cli_append_option(text, size, options[i].name, options[i].value);
}

void cli_repeat(const cli_options *o, const cli_case *c, char *text, size_t size)
{
    const cnn_session *s = c->session;
    const cnn_type *type = c->problem != NULL ? &c->problem->u.type : &c->type;
    char name[2 * CNN_NAME_MAX + 2], problem[CNN_PROBLEM_TEXT_MAX];
    snprintf(name, sizeof name, "%s:%s", s->impl->name, c->algorithm);
    snprintf(text, size, "benchcnn %s", c->command);
    cli_append_option(text, size, "impl", name);
    if (c->problem != NULL) {
        cnn_problem_format(c->problem, problem);
        cnn_append(text, size, " --op %s --dir %s", cnn_op_name(c->problem->op), cnn_dir_name(c->dir));
    }
    cli_append_option(text, size, c->problem != NULL ? "problem" : "net", c->problem != NULL ? problem : o->net);
    cnn_append(text, size, " --dtype %s --layout %s", cnn_dtype_name(type->dtype), cnn_layout_name(type->layout));
    if (type->math != CNN_MATH_F32) cnn_append(text, size, " --math %s", cnn_math_name(type->math));
    if (c->problem != NULL) append_kind(c->problem, text, size);
    if (c->problem == NULL) append_steps(o, c->batch, text, size);
    if (s->device != 0 && s->impl->device_kind != CNN_DEVICE_CPU) cnn_append(text, size, " --device %d", s->device);
    for (int i = 0; i < s->impl->n_knobs; i++)
        if (s->knobs[i] != s->impl->knobs[i].def || is_own_knob(o, s->impl, s->impl->knobs[i].name))
            cnn_append(text, size, " --set %s.%s=%lld", s->impl->name, s->impl->knobs[i].name, (long long)s->knobs[i]);
    for (int i = 0; i < o->plugin.count; i++)
        if (strcmp(o->plugin.items[i], o->kernel_code) != 0)
            cli_append_option(text, size, "plugin", o->plugin.items[i]);
    append_kernel(o, text, size);
    if (cli_given(o, "isolate")) cnn_append(text, size, " --isolate");
    if (o->separate) cnn_append(text, size, " --separate");
    cnn_append(text, size, " --threads %d --seed %lld", s->threads, (long long)c->seed);
}

const char *cli_typed(const cli_options *o, const char *command, char *room, size_t size)
{
    room[0] = '\0';
    cnn_append_quoted(room, size, o->program);
    cnn_append(room, size, "%s", command + strlen("benchcnn"));
    return room;
}
