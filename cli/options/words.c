/* words.c: what a shell completes: see options.h. */
#include "options.h"

#include "harness/problem/find_file.h"
#include "verify/verify.h"

#include <stdio.h>
#include <string.h>

/* What options take, and commands beside their options, where it is a list: the names, and what else. */
static const struct {
    const char *word;
    const cnn_name_set *names;
    const char *more;
} known[] = {{"--op", &cnn_op_names, "all"},
             {"--dir", &cnn_dir_names, "BWD all"},
             {"--dtype", &cnn_dtype_names, "all"},
             {"--layout", &cnn_layout_names, "all"},
             {"--math", &cnn_math_names, ""},
             {"--expect-math", &cnn_math_names, ""},
             {"--check", &verify_check_names, "all"},
             {"--optimizer", &cnn_optimizer_names, ""},
             {"--schedule", NULL, "constant cosine linear step,every=10"},
             {"--data", NULL, "auto mnist cifar10 synthetic @files"},
             {"--peaks", NULL, "none @files"},
             {"--fail-on", NULL, "faster slower same cannot-tell unmatched"},
             {"--kind", NULL, "timings epochs goals processes comparisons checks ceilings speedups solved scaling"},
             {"list", NULL, "baselines"},
             {"sweep", NULL, "batch ranks= threads algorithm layout dtype"},
             {"data", NULL, "fetch make mnist cifar10"},
             {"plot", NULL, "curves workers ranks goals sweep bars speedup solved roofline floor errors kills @files"},
             {"compare", NULL, "@files"},
             {"table", NULL, "@files"},
             {"merge", NULL, "@files"},
             {"run", NULL, "@files"}};

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

static bool print_known(const char *word)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].word, word) != 0) continue;
        for (int k = 0; known[i].names != NULL && k < known[i].names->count; k++)
            print_name(NULL, known[i].names->names[k]);
        printf("%s", known[i].more);
        return true;
    }
    return false;
}

static void print_option(const option_row *row, const char *text)
{
    char word[64];
    snprintf(word, sizeof word, "--%s", row->name);
    printf("%s|", word);
    for (int i = 0; row->words != NULL && row->words[i] != NULL; i++) print_name(NULL, row->words[i]);
    if (strcmp(row->name, "impl") == 0) print_algorithms();
    if (strcmp(row->name, "set") == 0) print_knobs();
    if (strcmp(row->name, "net") == 0) cnn_each_file(&cnn_network_files, print_name, NULL);
    if (strcmp(row->name, "problems") == 0) cnn_each_file(&cnn_problem_files, print_name, NULL);
    if (row->kind != KIND_WORD && !print_known(word))
        printf("%s", row->metavar == NULL ? "-" : takes_file(row->metavar) ? "@files" : "");
    printf("|%s\n", text);
}

void cli_words(const char *command)
{
    cnn_error err;
    const command_row *c = cli_find_command(command, &err);
    for (int i = 0; c == NULL && i < cli_n_commands; i++)
        if (strchr(cli_commands[i].name, ' ') == NULL) printf("%s|-|%s\n", cli_commands[i].name, cli_commands[i].doc);
    if (command[0] == '\0') printf("help|-|what a command does, and its options\n--version|-|the version\n");
    if (c == NULL) return;
    printf("|");
    if (strcmp(command, "run") == 0) cnn_each_file(&cnn_recipe_files, print_name, NULL);
    print_known(command);
    printf("|\n");
    cli_each_option(c, print_option);
    printf("--help|-|this command's words and options\n");
}
