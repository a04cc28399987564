/* sweep_ranks.c: `benchcnn sweep ranks=1,2,4`: `train` on each number of ranks, by a launcher that this process starts,
 * one number behind the other; then what sums take between the most of them (`peaks`), and the table of scaling.
 *
 * All of it goes to --out, which knows what is done: `train` runs nothing again that is there. */
#include "sweep_ranks.h"

#include "cli/show/scaling.h"
#include "cli/table.h"
#include "harness/base/text.h"
#include "harness/cpu/threads.h"
#include "harness/ranks/ranks.h"

#include <string.h>
#include <unistd.h>

cnn_status args_sweep_ranks(const cli_options *options, cnn_error *err)
{
    ranks_sweep s = {.options = options};
    return sweep_ranks_read(&s, err);
}

/* ---- The commands. */

static void add(ranks_sweep *s, const char *word)
{
    if (s->n_words < LAUNCH_WORDS_MAX) s->words[s->n_words++] = word;
}

/* Whether the word is this option, and how many words it takes; 0: it is not. */
static int is_option(const char *word, const char *name, bool flag)
{
    const size_t length = strlen(name);
    if (strncmp(word, "--", 2) != 0 || strncmp(word + 2, name, length) != 0) return 0;
    return word[2 + length] == '=' ? 1 : word[2 + length] == '\0' ? 2 - flag : 0;
}

/* As typed, but for what is of this command. */
static void put_train(ranks_sweep *s, bool alone)
{
    const cli_options *o = s->options;
    const bool more = o->weak && alone;
    s->n_words = 0;
    add(s, "train");
    for (int i = 3; i < o->n_typed; i++) {
        const int own = is_option(o->typed[i], "launcher", false) + is_option(o->typed[i], "weak", true) +
                        (more ? is_option(o->typed[i], "batch", false) : 0);
        if (own == 0) add(s, o->typed[i]);
        if (own == 2) i++;
    }
    if (!more) return;
    add(s, "--batch");
    add(s, s->batches);
}

static void put_list(ranks_sweep *s, const char *option, const cli_list *list)
{
    for (int i = 0; i < list->count; i++) add(s, option), add(s, list->items[i]);
}

/* With the implementations' names alone: an algorithm has no way of its own to add up. */
static void put_peaks(ranks_sweep *s, char names[LIST_TEXT])
{
    const cli_options *o = s->options;
    static const char *const passed[] = {"device", "threads"};
    names[0] = '\0';
    for (const char *at = o->impl; *at != '\0';) {
        cnn_append(names, LIST_TEXT, "%s%.*s", names[0] != '\0' ? "," : "", (int)strcspn(at, ":,"), at);
        at += strcspn(at, ",");
        at += *at == ',';
    }
    s->n_words = 0;
    add(s, "peaks");
    add(s, "--impl");
    add(s, names);
    put_list(s, "--plugin", &o->plugin);
    put_list(s, "--set", &o->set);
    for (int i = 3; i < o->n_typed; i++)
        for (size_t k = 0; k < sizeof passed / sizeof passed[0]; k++) {
            const int count = is_option(o->typed[i], passed[k], false);
            if (count > 0) add(s, o->typed[i]);
            if (count > 1 && i + 1 < o->n_typed) add(s, o->typed[i + 1]);
        }
    add(s, "--out");
    add(s, o->out);
    if (o->quiet) add(s, "--quiet");
}

/* ---- Running. */

static void say_command(const ranks_sweep *s, int64_t count)
{
    char text[4096] = "";
    if (s->options->quiet || s->options->json) return;
    for (int i = 0; i < s->n_words; i++) {
        cnn_append(text, sizeof text, " ");
        cnn_append_quoted(text, sizeof text, s->words[i]);
    }
    table_put(stdout, "%lld rank%s: benchcnn%s\n", (long long)count, count == 1 ? "" : "s", text);
}

/* A figure that failed is a result like others; what could not run at all will not run on other ranks either. */
static cnn_status run(ranks_sweep *s, int64_t count, bool *go_on, cnn_error *err)
{
    int result = 0;
    say_command(s, count);
    const cnn_status status = launch_ranks(s->options->launcher, (int)count, s->words, s->n_words, &result, err);
    if (status == CNN_INTERRUPTED)
        return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted on %lld ranks; the same command goes on from here",
                        (long long)count);
    if (status != CNN_OK || result == EXIT_HELD) return status;
    table_put(stderr,
              "%lld rank%s: `benchcnn %s` ended with status %d: its own words stand above; what it finished is in "
              "%s, and the same command goes on from there\n",
              (long long)count, count == 1 ? "" : "s", s->words[0], result, s->options->out);
    if (s->result != EXIT_FAILED) s->result = result <= EXIT_NOTHING ? result : EXIT_FAILED;
    *go_on = result == EXIT_FAILED && access(s->options->out, R_OK) == 0; /* else not even begun */
    return CNN_OK;
}

/* Whether the file says, of each curve, what sums take between so many ranks. */
static bool sums_known(const ranks_sweep *s)
{
    scaling_set set = {.count = 0};
    cnn_error err;
    bool known = cli_scaling(&s->options->out, 1, false, &set, &err) == CNN_OK;
    for (int i = 0; i < set.count; i++) {
        const scaling_link *link = set.list[i].model.link;
        known = known && (scaling_most_ranks(&set.list[i]) < s->most || (link != NULL && link->ranks >= s->most));
    }
    scaling_free(&set);
    return known;
}

static cnn_status run_all(ranks_sweep *s, cnn_error *err)
{
    char names[LIST_TEXT];
    bool go_on = true;
    if (s->options->launcher == NULL && s->most > cpu_count())
        table_put(stderr,
                  "%lld ranks are more than the %d cores of this host: they take turns, and their times tell little\n",
                  (long long)s->most, cpu_count());
    for (int i = 0; i < s->n_counts && go_on; i++) {
        put_train(s, s->counts[i] == 1);
        if (run(s, s->counts[i], &go_on, err) != CNN_OK) return err->status;
    }
    if (!go_on || sums_known(s)) return CNN_OK;
    put_peaks(s, names);
    return run(s, s->most, &go_on, err);
}

static cnn_status show(const ranks_sweep *s, cnn_error *err)
{
    scaling_set set = {.count = 0};
    cnn_status status = cli_scaling(&s->options->out, 1, true, &set, err);
    if (!s->options->quiet) putchar('\n');
    if (status == CNN_OK) status = cli_show_scaling(&set, err);
    scaling_free(&set);
    return status;
}

int cmd_sweep_ranks(const cli_options *options, cnn_error *err)
{
    static ranks_sweep s; /* large: kept off the stack */
    s = (ranks_sweep){.options = options, .result = EXIT_HELD};
    cnn_status status =
        ranks_under_launcher()
            ? CNN_FAIL(err, CNN_BAD_ARGUMENT,
                       "sweep ranks starts its ranks itself: start it without a launcher; --launcher says "
                       "which one it is to take")
            : sweep_ranks_read(&s, err);
    if (status == CNN_OK) status = run_all(&s, err);
    if (status != CNN_OK) return cli_fail(err);
    if (options->json || access(options->out, R_OK) != 0) return s.result;
    status = show(&s, err);
    if (status == CNN_BAD_ARGUMENT && s.result != EXIT_HELD) return s.result; /* nothing to show, and it is said why */
    return status == CNN_OK ? s.result : cli_fail(err);
}
