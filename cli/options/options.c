/* options.c: parses the command line by the tables of options and commands (tables.c). */
#include "options.h"

#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/ranks/ranks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

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

/* Of a list the first; all are checked, and kept as given. */
static cnn_status set_ints(cli_options *options, const option_row *row, const char *value, int64_t *field,
                           cnn_error *err)
{
    int64_t list[CLI_LIST_MAX];
    int count = 0;
    if (row->lists == NULL || !cli_takes(options->row, row->lists) || strchr(value, ',') == NULL)
        return set_int(row, value, field, err);
    const cnn_status status =
        cli_ints(row->name, value, (int64_t)row->min, (int64_t)row->max, list, CLI_LIST_MAX, &count, err);
    if (status != CNN_OK) return status;
    *field = list[0];
    *(const char **)(void *)((char *)options + row->list_at) = value;
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
        return set_ints(options, row, value, field, err);
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
static const option_row *find_option(const command_row *c, const char *name, cnn_error *err)
{
    const char *names[CLI_OPTIONS_MAX];
    int count = 0;
    const option_row *row = cli_row(name);
    if (row != NULL && cli_takes(c, row->commands)) return row;
    if (row != NULL) {
        CNN_FAIL(err, CNN_BAD_ARGUMENT, "`benchcnn %s` takes no --%s; see `benchcnn %s --help`", c->name, name,
                 c->name);
        return NULL;
    }
    for (int i = 0; i < cli_n_rows; i++)
        if (cli_takes(c, cli_rows[i].commands)) names[count++] = cli_rows[i].name;
    const char *nearest = cnn_nearest_name(name, names, count);
    CNN_FAIL(err, CNN_BAD_ARGUMENT, "unknown option --%.64s%s%s%s; see `benchcnn %s --help`", name,
             nearest != NULL ? "; did you mean --" : "", nearest != NULL ? nearest : "", nearest != NULL ? "?" : "",
             c->name);
    return NULL;
}

/* One option at argv[*at]: --name value, --name=value or --flag. Leaves *at on the last argument it used. */
static cnn_status take_option(cli_options *options, int argc, char **argv, int *at, cnn_error *err)
{
    char name[CNN_NAME_MAX];
    const char *text = argv[*at] + 2, *equals = strchr(text, '=');
    snprintf(name, sizeof name, "%.*s", equals != NULL ? (int)(equals - text) : (int)strlen(text), text);
    const option_row *row = find_option(options->row, name, err);
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
        next = find_option(options->row, argv[*at + 1] + 2, &none);
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

bool cli_runs_impl(const cli_options *o) { return o->impl != NULL && cli_takes(o->row, cli_row("set")->commands); }

/* A command that takes no --tune has no use for NAME:tuned either; nor has --tune a use without it, but for the sweeps
 * that keep their winners there. */
static cnn_status check_impl(const cli_options *o, cnn_error *err)
{
    static cnn_choice choices[CNN_MAX_CHOICES]; /* large: kept off the stack */
    int count = 0;
    bool tuned = false;
    if (cli_runs_impl(o) && cnn_choices_parse(o->registry, o->impl, choices, &count, err) != CNN_OK) return err->status;
    for (int i = 0; i < count; i++) tuned = tuned || cnn_choice_tuned(&choices[i]);
    if (tuned && !cli_takes(o->row, cli_row("tune")->commands))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "`benchcnn %s` takes no tuned choices (--impl %.64s): name an algorithm",
                        o->command, o->impl);
    if (o->tune == NULL || tuned || strcmp(o->command, "sweep") == 0) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--tune %.200s: no implementation is chosen as NAME:tuned in --impl %.200s",
                    o->tune, o->impl ? o->impl : "(all)");
}

cnn_status cli_check_args(const cli_options *o, cnn_error *err)
{
    if (!o->none_left && check_impl(o, err) != CNN_OK) return err->status;
    return o->row->args(o, err);
}

static cnn_status check_words(const cli_options *options, cnn_error *err)
{
    const command_row *c = options->row;
    const int count = options->words.count;
    if (count > c->most)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "`benchcnn %s` takes no '%.64s'; usage: benchcnn %s %.300s", c->name,
                        options->words.items[c->most], c->name, c->usage);
    if (count >= c->least) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "`benchcnn %s` needs more words; usage: benchcnn %s %.300s", c->name,
                    c->name, c->usage);
}

/* Data that were known beforehand could be answered by heart. */
static void draw_seed(cli_options *options)
{
    uint32_t bits;
    if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits) bits = (uint32_t)(cnn_now() * 1e6);
    options->seed = 1 + (int64_t)(bits >> 2);
    options->seed_drawn = true;
}

cnn_status cli_parse(cli_options *options, cnn_registry *registry, int argc, char **argv, cnn_error *err)
{
    const char *command = cli_command_name(argc, argv);
    set_defaults(options);
    options->registry = registry;
    if ((options->row = cli_find_command(command, err)) == NULL) return err->status;
    options->command = options->row->name;
    options->program = strchr(argv[0], '/') != NULL ? argv[0] : "benchcnn";
    options->typed = argv;
    options->n_typed = argc;
    keep_command_line(options, argc, argv);
    for (int i = command == argv[1] || strchr(argv[2], '=') != NULL ? 2 : 3; i < argc;
         i++) /* ranks=1,2 is a word, too */ {
        cnn_status status = CNN_OK;
        if (strncmp(argv[i], "--", 2) == 0)
            status = take_option(options, argc, argv, &i, err);
        else if (argv[i][0] == '-' && argv[i][1] != '\0')
            status = CNN_FAIL(err, CNN_BAD_ARGUMENT, "unknown option %.64s: options begin with two dashes", argv[i]);
        else if (options->words.count < CLI_LIST_MAX)
            options->words.items[options->words.count++] = argv[i];
        if (status != CNN_OK) return status;
    }
    if (check_words(options, err) != CNN_OK || cli_check_rules(options, err) != CNN_OK) return err->status;
    const bool verify = strcmp(options->command, "verify") == 0;
    if (verify && (options->plugin.count > 0 || options->kernel != NULL) && options->fuzz == NULL && !ranks_launched())
        options->isolate = true; /* --fuzz has workers; over ranks the launcher ends all */
    if (options->isolate_limit == 0) options->isolate_limit = verify ? 30 : 300;
    if (verify && !cli_given(options, "seed")) draw_seed(options);
    return CNN_OK;
}

cnn_status cli_load(cli_options *options, cnn_registry *registry, cnn_error *err)
{
    if (cli_kernel_build(options, err) != CNN_OK) return err->status;
    if (cli_load_plugins(options, registry, err) != CNN_OK || cli_settle_seed(options, err) != CNN_OK)
        return err->status;
    return cnn_settings_check(registry, options->set.items, options->set.count, err);
}
