/* repro.c: the command that repeats one case, quoted for a shell. */
#include "report.h"

#include "harness/base/text.h"
#include "harness/problem/names.h"

#include <string.h>

enum { COMMAND_MAX = REPORT_COMMAND_MAX };

void report_repro(const verify_report *r, char command[COMMAND_MAX])
{
    const report_case *c = &r->now;
    const cli_options *o = r->options;
    char choice[2 * CNN_NAME_MAX + 2];
    snprintf(choice, sizeof choice, "%s:%s", c->session->impl->name, c->algorithm);
    snprintf(command, COMMAND_MAX, "benchcnn verify");
    cli_append_option(command, COMMAND_MAX, "impl", choice);
    if (c->problem != NULL)
        cnn_append(command, COMMAND_MAX, " --op %s --dir %s", cnn_op_name(c->problem->op), cnn_dir_name(c->dir));
    cli_append_option(command, COMMAND_MAX, c->problem != NULL ? "problem" : "net", c->what);
    cnn_append(command, COMMAND_MAX, " --dtype %s --layout %s", cnn_dtype_name(c->type.dtype),
               cnn_layout_name(c->type.layout));
    if (c->type.math != CNN_MATH_F32) cnn_append(command, COMMAND_MAX, " --math %s", cnn_math_name(c->type.math));
    if (c->problem != NULL && strcmp(o->mode, "cross_correlation") != 0)
        cnn_append(command, COMMAND_MAX, " --mode %s", o->mode);
    if (c->problem != NULL && o->no_bias) cnn_append(command, COMMAND_MAX, " --no-bias");
    if (o->device != 0) cnn_append(command, COMMAND_MAX, " --device %lld", (long long)o->device);
    const tuning_choice *kept = c->tuned != NULL ? c->tuned->choice : NULL;
    for (int i = 0; kept != NULL && i < kept->n_settings; i++)
        cnn_append(command, COMMAND_MAX, " --set %s", kept->settings[i]);
    for (int i = 0; i < o->set.count; i++) cli_append_option(command, COMMAND_MAX, "set", o->set.items[i]);
    if (o->reference_flops < 1e10 || o->reference_flops > 1e10)
        cnn_append(command, COMMAND_MAX, " --reference-flops %g", o->reference_flops);
    for (int i = 0; i < o->plugin.count; i++) cli_append_option(command, COMMAND_MAX, "plugin", o->plugin.items[i]);
    if (o->isolate) cnn_append(command, COMMAND_MAX, " --isolate");
    cnn_append(command, COMMAND_MAX, " --threads %d --seed %lld", c->session->threads, (long long)o->seed);
}
