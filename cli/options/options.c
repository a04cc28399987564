/* options.c: parses the command line by the tables of options and commands (tables.c). */
#include "options.h"

#include "harness/base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *field_of(cli_options *options, const option_row *row) { return (char *)options + row->offset; }

static void set_defaults(cli_options *options)
{
    memset(options, 0, sizeof *options);
    for (int i = 0; i < cli_n_rows; i++) {
        void *field = field_of(options, &cli_rows[i]);
        if (cli_rows[i].kind == KIND_TEXT) *(const char **)field = cli_rows[i].text;
        if (cli_rows[i].kind == KIND_WORD) *(const char **)field = cli_rows[i].words[0];
        if (cli_rows[i].kind == KIND_INT) *(int64_t *)field = (int64_t)cli_rows[i].usual;
        if (cli_rows[i].kind == KIND_REAL) *(double *)field = cli_rows[i].usual;
    }
}

static cnn_status set_int(const option_row *row, const char *value, int64_t *field, cnn_error *err)
{
    char *end;
    errno = 0;
    *field = strtoll(value, &end, 10);
    if (end == value || *end != '\0' || errno == ERANGE)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s needs a whole number, not '%.64s'", row->name, value);
    if (*field < (int64_t)row->min || *field > (int64_t)row->max)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s is %s, but must be from %.0f to %.0f", row->name, value, row->min,
                        row->max);
    return CNN_OK;
}

static cnn_status set_real(const option_row *row, const char *value, double *field, cnn_error *err)
{
    char *end;
    *field = strtod(value, &end);
    if (end == value || *end != '\0' || !isfinite(*field))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s needs a number, not '%.64s'", row->name, value);
    if (*field < row->min || *field > row->max)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s is %s, but must be from %g to %g", row->name, value, row->min,
                        row->max);
    return CNN_OK;
}

static cnn_status set_word(const option_row *row, const char *value, const char **field, cnn_error *err)
{
    cnn_name_set set = {row->name, row->words, 0};
    while (row->words[set.count] != NULL) set.count++;
    const int found = cnn_name_find(&set, value, err);
    if (found < 0) return err->status;
    *field = row->words[found];
    return CNN_OK;
}

static cnn_status set_field(cli_options *options, const option_row *row, const char *value, cnn_error *err)
{
    void *field = field_of(options, row);
    cli_list *list = field;
    switch (row->kind) {
    case KIND_FLAG:
        *(bool *)field = true;
        return CNN_OK;
    case KIND_TEXT:
        *(const char **)field = value;
        return CNN_OK;
    case KIND_WORD:
        return set_word(row, value, field, err);
    case KIND_INT:
        return set_int(row, value, field, err);
    case KIND_REAL:
        return set_real(row, value, field, err);
    case KIND_LIST:
        if (list->count == CLI_LIST_MAX)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s is given more than %d times", row->name, CLI_LIST_MAX);
        list->items[list->count++] = value;
        return CNN_OK;
    }
    return CNN_OK;
}

/* The row of `name` for this command, or NULL: the error offers the nearest, or names the commands that take it. */
static const option_row *find_option(const char *command, const char *name, cnn_error *err)
{
    const char *names[CLI_OPTIONS_MAX];
    int count = 0;
    const option_row *row = cli_row(name);
    if (row != NULL && cli_concerns(row->commands, command)) return row;
    if (row != NULL) {
        CNN_FAIL(err, CNN_BAD_ARGUMENT, "`benchcnn %s` takes no --%s; see `benchcnn %s --help`", command, name,
                 command);
        return NULL;
    }
    for (int i = 0; i < cli_n_rows; i++)
        if (cli_concerns(cli_rows[i].commands, command)) names[count++] = cli_rows[i].name;
    const char *nearest = cnn_nearest_name(name, names, count);
    CNN_FAIL(err, CNN_BAD_ARGUMENT, "unknown option --%.64s%s%s%s; see `benchcnn %s --help`", name,
             nearest != NULL ? "; did you mean --" : "", nearest != NULL ? nearest : "", nearest != NULL ? "?" : "",
             command);
    return NULL;
}

/* One option at argv[*at]: --name value, --name=value or --flag. Leaves *at on the last argument it used. */
static cnn_status take_option(cli_options *options, int argc, char **argv, int *at, cnn_error *err)
{
    char name[CNN_NAME_MAX];
    const char *text = argv[*at] + 2, *equals = strchr(text, '=');
    snprintf(name, sizeof name, "%.*s", equals != NULL ? (int)(equals - text) : (int)strlen(text), text);
    const option_row *row = find_option(options->command, name, err);
    if (row == NULL) return err->status;
    options->given[row - cli_rows] = true;
    if (row->kind == KIND_FLAG) {
        if (equals != NULL) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s takes no value", name);
        return set_field(options, row, NULL, err);
    }
    if (equals != NULL) return set_field(options, row, equals + 1, err);
    const option_row *next = NULL; /* a value that is an option's name: the value was forgotten */
    cnn_error none;
    if (*at + 1 < argc && strncmp(argv[*at + 1], "--", 2) == 0)
        next = find_option(options->command, argv[*at + 1] + 2, &none);
    if (next != NULL)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s needs a value (%s), but is followed by --%s", name, row->metavar,
                        next->name);
    if (*at + 1 >= argc) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s needs a value (%s)", name, row->metavar);
    return set_field(options, row, argv[++*at], err);
}

/* The command line as one would type it, quoted where the shell needs it. */
static void keep_command_line(cli_options *options, int argc, char **argv)
{
    char *text = options->command_line;
    const size_t size = sizeof options->command_line;
    snprintf(text, size, "benchcnn");
    for (int i = 1; i < argc; i++) {
        cnn_append(text, size, " ");
        cnn_append_quoted(text, size, argv[i]);
    }
}

/* Whether --impl has a NAME:tuned. */
static bool names_tuned(const cli_options *options)
{
    static const char word[] = ":" CNN_TUNED;
    for (const char *at = options->impl; at != NULL && (at = strstr(at, word)) != NULL; at++) {
        const char after = at[sizeof word - 1];
        if (after == '\0' || after == ',') return true;
    }
    return false;
}

static bool takes(const char *command, const char *option) { return cli_concerns(cli_row(option)->commands, command); }

bool cli_runs_impl(const cli_options *options) { return options->impl != NULL && takes(options->command, "set"); }

/* A command that takes no --tune has no use for NAME:tuned either; nor has --tune a use without it, but for the sweeps
 * that keep their winners there. */
static cnn_status check_tuned(const cli_options *options, cnn_error *err)
{
    const bool named = names_tuned(options), sweep = strcmp(options->command, "sweep") == 0;
    if (named && cli_runs_impl(options) && !takes(options->command, "tune"))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "`benchcnn %s` takes no tuned choices (--impl %.64s): name an algorithm",
                        options->command, options->impl);
    if (options->tune == NULL || named || sweep) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--tune %.200s: no implementation is chosen as NAME:tuned in --impl %.200s",
                    options->tune, options->impl ? options->impl : "(all)");
}

static cnn_status check_words(const cli_options *options, cnn_error *err)
{
    const command_row *c = cli_find_command(options->command, err);
    const int count = options->words.count;
    if (count > c->most)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "`benchcnn %s` takes no '%.64s'; usage: benchcnn %s %.300s", c->name,
                        options->words.items[c->most], c->name, c->usage);
    if (count >= c->least) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "`benchcnn %s` needs more words; usage: benchcnn %s %.300s", c->name,
                    c->name, c->usage);
}

cnn_status cli_parse(cli_options *options, cnn_registry *registry, int argc, char **argv, cnn_error *err)
{
    set_defaults(options);
    options->registry = registry;
    options->command = cli_command_name(argc, argv);
    options->program = strchr(argv[0], '/') != NULL ? argv[0] : "benchcnn";
    keep_command_line(options, argc, argv);
    for (int i = options->command == argv[1] ? 2 : 3; i < argc; i++) {
        cnn_status status = CNN_OK;
        if (strncmp(argv[i], "--", 2) == 0)
            status = take_option(options, argc, argv, &i, err);
        else if (argv[i][0] == '-' && argv[i][1] != '\0')
            status = CNN_FAIL(err, CNN_BAD_ARGUMENT, "unknown option %.64s: options begin with two dashes", argv[i]);
        else if (options->words.count < CLI_LIST_MAX)
            options->words.items[options->words.count++] = argv[i];
        if (status != CNN_OK) return status;
    }
    if (check_words(options, err) != CNN_OK || check_tuned(options, err) != CNN_OK) return err->status;
    return cli_check_rules(options, err);
}

cnn_status cli_load(cli_options *options, cnn_registry *registry, cnn_error *err)
{
    if (cli_load_plugins(options, registry, err) != CNN_OK) return err->status;
    return cnn_settings_check(registry, options->set.items, options->set.count, err);
}
