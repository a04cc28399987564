/* verify_repro.c: the command that repeats one case, quoted for a shell. */
#include "verify_report.h"

#include "../names.h"

#include <string.h>

enum { COMMAND_MAX = REPORT_COMMAND_MAX };

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
append(char command[COMMAND_MAX], const char *format, ...)
{
    const size_t used = strlen(command);
    va_list args;
    va_start(args, format);
    vsnprintf(command + used, COMMAND_MAX - used, format, args);
    va_end(args);
}

static void append_word(char command[COMMAND_MAX], const char *word)
{
    append(command, " ");
    const size_t used = strlen(command);
    cli_quote(command + used, COMMAND_MAX - used, word);
}

void report_repro(const verify_report *r, char command[COMMAND_MAX])
{
    const report_case *c = &r->now;
    const cli_options *o = r->options;
    char choice[2 * CNN_NAME_MAX + 2];
    command[0] = '\0';
    append(command, "benchcnn verify --impl");
    snprintf(choice, sizeof choice, "%s:%s", c->session->impl->name, c->algorithm);
    append_word(command, choice);
    if (c->problem == NULL)
        append(command, " --net");
    else
        append(command, " --op %s --dir %s --problem", cnn_op_name(c->problem->op), cnn_dir_name(c->dir));
    append_word(command, c->what);
    append(command, " --dtype %s --layout %s", cnn_dtype_name(c->type.dtype), cnn_layout_name(c->type.layout));
    if (c->type.math != CNN_MATH_F32) append(command, " --math %s", cnn_math_name(c->type.math));
    if (c->problem != NULL && strcmp(o->mode, "cross_correlation") != 0) append(command, " --mode %s", o->mode);
    if (c->problem != NULL && o->no_bias) append(command, " --no-bias");
    if (o->device != 0) append(command, " --device %lld", (long long)o->device);
    const tuning_choice *kept = c->tuned != NULL ? c->tuned->choice : NULL;
    for (int i = 0; kept != NULL && i < kept->n_settings; i++) append(command, " --set %s", kept->settings[i]);
    for (int i = 0; i < o->set.count; i++) {
        append(command, " --set");
        append_word(command, o->set.items[i]);
    }
    if (o->reference_flops < 1e10 || o->reference_flops > 1e10)
        append(command, " --reference-flops %g", o->reference_flops);
    for (int i = 0; i < o->plugin.count; i++) {
        append(command, " --plugin");
        append_word(command, o->plugin.items[i]);
    }
    if (o->isolate) append(command, " --isolate");
    append(command, " --threads %d --seed %lld", c->session->threads, (long long)o->seed);
}
