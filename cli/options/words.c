/* words.c: what a shell completes: see options.h. */
#include "options.h"

#include "harness/problem/find_file.h"
#include "harness/problem/names.h"

#include <stdio.h>
#include <string.h>

static const char *const checks[] = {
#define CHECK(id, name, doc) name,
#include "verify/checks.inc"
#undef CHECK
};
static const cnn_name_set check_names = {"check", checks, sizeof checks / sizeof checks[0]};

/* Options whose values are a list: the names, and what else is taken. */
static const struct {
    const char *option;
    const cnn_name_set *names;
    const char *more;
} known_values[] = {{"op", &cnn_op_names, "all"},
                    {"dir", &cnn_dir_names, "BWD all"},
                    {"dtype", &cnn_dtype_names, "all"},
                    {"layout", &cnn_layout_names, "all"},
                    {"math", &cnn_math_names, ""},
                    {"check", &check_names, "all"},
                    {"optimizer", &cnn_optimizer_names, ""},
                    {"mode", NULL, "cross_correlation convolution"},
                    {"cache", NULL, "hot cold network"},
                    {"data", NULL, "auto mnist synthetic @files"},
                    {"data-on", NULL, "device host"},
                    {"peaks", NULL, "none @files"},
                    {"fail-on", NULL, "faster slower same cannot-tell unmatched"},
                    {"format", NULL, "text markdown csv"},
                    {"kind", NULL, "timings epochs processes comparisons checks ceilings speedups"}};

/* What commands take beside options. */
static const struct {
    const char *command, *words;
} known_words[] = {{"sweep", "batch threads algorithm layout dtype knob"},
                   {"data", "fetch make"},
                   {"plot", "speedup roofline @files"},
                   {"compare", "@files"},
                   {"table", "@files"},
                   {"run", "@files"}};

static void print_name(void *unused, const char *name)
{
    (void)unused;
    printf("%s ", name);
}

static void print_algorithms(void)
{
    for (int i = 0; i < cnn_impl_count(NULL); i++) {
        const cnn_impl *impl = cnn_impl_at(NULL, i);
        print_name(NULL, impl->name);
        for (int a = 0; a < impl->n_algorithms; a++) printf("%s:%s ", impl->name, impl->algorithms[a].name);
    }
}

static void print_knobs(void)
{
    for (int i = 0; i < cnn_impl_count(NULL); i++)
        for (int k = 0; k < cnn_impl_at(NULL, i)->n_knobs; k++)
            printf("%s.%s= ", cnn_impl_at(NULL, i)->name, cnn_impl_at(NULL, i)->knobs[k].name);
}

static bool takes_file(const char *metavar)
{
    return strstr(metavar, ".npy") || strstr(metavar, "FILE") || strcmp(metavar, "DIR") == 0 ||
           strcmp(metavar, "SO") == 0;
}

static void print_values(const option_row *row)
{
    if (strcmp(row->name, "impl") == 0) print_algorithms();
    if (strcmp(row->name, "set") == 0) print_knobs();
    if (strcmp(row->name, "net") == 0) cnn_each_file(&cnn_network_files, print_name, NULL);
    if (strcmp(row->name, "problems") == 0) cnn_each_file(&cnn_problem_files, print_name, NULL);
    for (size_t i = 0; i < sizeof known_values / sizeof known_values[0]; i++) {
        if (strcmp(known_values[i].option, row->name) != 0) continue;
        const cnn_name_set *names = known_values[i].names;
        for (int k = 0; names != NULL && k < names->count; k++) print_name(NULL, names->names[k]);
        printf("%s", known_values[i].more);
        return;
    }
    if (row->metavar == NULL)
        printf("-");
    else if (takes_file(row->metavar))
        printf("@files");
}

static void print_command_words(const char *command)
{
    printf("|");
    if (strcmp(command, "run") == 0) cnn_each_file(&cnn_recipe_files, print_name, NULL);
    for (size_t i = 0; i < sizeof known_words / sizeof known_words[0]; i++)
        if (strcmp(known_words[i].command, command) == 0) printf("%s", known_words[i].words);
    printf("|\n");
}

void cli_words(const char *command)
{
    const command_row *c = NULL;
    for (int i = 0; i < cli_n_commands; i++) {
        if ((command == NULL || strcmp(command, "help") == 0) && strchr(cli_commands[i].name, ' ') == NULL)
            printf("%s|-|%s\n", cli_commands[i].name, cli_commands[i].doc);
        else if (command != NULL && strcmp(cli_commands[i].name, command) == 0)
            c = &cli_commands[i];
    }
    if (command == NULL) printf("help|-|what a command does, and its options\n--version|-|the version\n");
    if (c == NULL) return;
    print_command_words(command);
    for (int i = 0; i < cli_n_rows; i++) {
        if (!cli_belongs(&cli_rows[i], command)) continue;
        printf("--%s|", cli_rows[i].name);
        print_values(&cli_rows[i]);
        printf("|%s\n", cli_option_text(&cli_rows[i], c->letter));
    }
    printf("--help|-|this command's words and options\n");
}
