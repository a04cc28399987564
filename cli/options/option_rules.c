/* option_rules.c: which options need another, and which contradict each other: the table option_rules.inc. */
#include "options.h"

#include <string.h>

/* The first of the names in `list` that was given, into `name`; else the first of all, and false. */
static bool first_given(const cli_options *options, const char *list, char name[CNN_NAME_MAX])
{
    for (const char *at = list; *at != '\0'; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        snprintf(name, CNN_NAME_MAX, "%.*s", (int)length, at);
        if (cli_given(options, name)) return true;
        at += length;
    }
    snprintf(name, CNN_NAME_MAX, "%.*s", (int)strcspn(list, " "), list);
    return false;
}

/* All rules stand in one table, so that the manual and the tests can read them, too. */
cnn_status cli_check_rules(const cli_options *options, cnn_error *err)
{
    static const struct {
        const char *commands, *option, *others, *why; /* why NULL: one of the others is needed */
    } rules[] = {
#define NEEDS(commands, option, partners) {commands, option, partners, NULL},
#define NOT_WITH(commands, option, others, why) {commands, option, others, why},
#include "option_rules.inc"
#undef NEEDS
#undef NOT_WITH
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const char *option = rules[i].option, *why = rules[i].why;
        char name[CNN_NAME_MAX];
        if (!cli_takes(options->row, rules[i].commands) || !cli_given(options, option)) continue;
        const bool found = first_given(options, rules[i].others, name);
        if (found && why != NULL)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s does not go with --%s: %s", name, option, why);
        if (found || why != NULL) continue;
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s goes with --%s, and means nothing without it", option, name);
    }
    return CNN_OK;
}
