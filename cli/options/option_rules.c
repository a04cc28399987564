/* option_rules.c: which options need another, and which contradict each other: the table option_rules.inc. */
#include "options.h"

#include <string.h>

/* The first of the names in `list` that was given, into `name`; without `given`, the first of all. */
static bool first_of(const cli_options *options, const char *list, bool given, char name[CNN_NAME_MAX])
{
    for (const char *at = list; *at != '\0'; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        snprintf(name, CNN_NAME_MAX, "%.*s", (int)length, at);
        if (!given || cli_given(options, name)) return true;
        at += length;
    }
    return false;
}

static cnn_status check_needs(const cli_options *options, cnn_error *err)
{
    static const struct {
        const char *commands, *option, *partners;
    } needs[] = {
#define NEEDS(commands, option, partners) {commands, option, partners},
#define NOT_WITH(commands, option, others, why)
#include "option_rules.inc"
#undef NEEDS
#undef NOT_WITH
    };
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        char name[CNN_NAME_MAX];
        if (!cli_concerns(needs[i].commands, options->command) || !cli_given(options, needs[i].option) ||
            first_of(options, needs[i].partners, true, name))
            continue;
        first_of(options, needs[i].partners, false, name);
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s goes with --%s, and means nothing without it", needs[i].option,
                        name);
    }
    return CNN_OK;
}

static cnn_status check_contradictions(const cli_options *options, cnn_error *err)
{
    static const struct {
        const char *commands, *option, *others, *why;
    } rules[] = {
#define NEEDS(commands, option, partners)
#define NOT_WITH(commands, option, others, why) {commands, option, others, why},
#include "option_rules.inc"
#undef NEEDS
#undef NOT_WITH
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        char name[CNN_NAME_MAX];
        if (cli_concerns(rules[i].commands, options->command) && cli_given(options, rules[i].option) &&
            first_of(options, rules[i].others, true, name))
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s does not go with --%s: %s", name, rules[i].option,
                            rules[i].why);
    }
    return CNN_OK;
}

/* `sweep layout --layout nchw`: an axis with one value is none. */
static cnn_status check_axes(const cli_options *options, cnn_error *err)
{
    static const char *const axes[] = {"layout", "dtype"};
    const char *const values[] = {options->layout, options->dtype};
    if (strcmp(options->command, "sweep") != 0 || options->words.count == 0) return CNN_OK;
    for (int i = 0; i < 2; i++) {
        if (!strstr(options->words.items[0], axes[i]) || !cli_given(options, axes[i])) continue;
        if (strchr(values[i], ',') || strcmp(values[i], "all") == 0) continue;
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "sweep %s --%s %.32s leaves nothing to sweep: give more than one, or none", axes[i], axes[i],
                        values[i]);
    }
    return CNN_OK;
}

cnn_status cli_check_rules(const cli_options *options, cnn_error *err)
{
    cnn_status status = check_needs(options, err);
    if (status == CNN_OK) status = check_contradictions(options, err);
    return status == CNN_OK ? check_axes(options, err) : status;
}
