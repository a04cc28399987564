/* sweep_ranks_read.c: see sweep_ranks.h. */
#include "sweep_ranks.h"

#include "harness/base/text.h"
#include "parts.h"

#include <string.h>

static cnn_status read_counts(ranks_sweep *s, cnn_error *err)
{
    const cli_options *o = s->options;
    const char *list = o->words.count == 1 ? strchr(o->words.items[0], '=') : NULL;
    if (list == NULL)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "sweep ranks needs to know which numbers of them: benchcnn sweep ranks=1,2,4 --net NAME --impl "
                        "NAME --out FILE.jsonl");
    cnn_status status = cli_ints("ranks", list + 1, 1, 1 << 20, s->counts, COUNTS_MAX, &s->n_counts, err);
    if (status != CNN_OK) /* it is no option */
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "sweep %.100s: ranks are whole numbers from 1 on, separated by commas: ranks=1,2,4",
                        o->words.items[0]);
    for (int i = 0; i < s->n_counts; i++) {
        s->most = s->counts[i] > s->most ? s->counts[i] : s->most;
        s->one = s->one || s->counts[i] == 1;
    }
    if (s->most > 1) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "sweep ranks=1 leaves nothing to sweep: give more numbers, as ranks=1,2,4");
}

/* What is of one training, or of one process. */
static cnn_status check_options(const ranks_sweep *s, cnn_error *err)
{
    static const struct {
        const char *option, *why;
    } others[] = {{"plan", "it trains nothing: give it to train"},
                  {"checkpoint", "it keeps one training, and each number of ranks is another"},
                  {"save", "it keeps one training, and each number of ranks is another"},
                  {"profile", "it is of one process"},
                  {"energy", "it is of one process"},
                  {"isolate", "the launcher ends all ranks when one is lost"}};
    const cli_options *o = s->options;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (cli_given(o, others[i].option))
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s does not go with sweep ranks: %s", others[i].option,
                            others[i].why);
    if (o->out == NULL)
        return CNN_FAIL(
            err, CNN_BAD_ARGUMENT,
            "sweep ranks needs --out FILE.jsonl: each number of ranks is a run of its own, and all add their "
            "epochs to it");
    if (o->weak && !s->one)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--weak is of what one rank trains: then 1 must be among %.100s",
                        o->words.items[0]);
    return CNN_OK;
}

/* Before hours are spent: each batch on each number of ranks; and what --weak adds for one. */
static cnn_status read_batches(ranks_sweep *s, const train *t, cnn_error *err)
{
    for (int b = 0; b < t->n_batches; b++)
        for (int i = 0; i < s->n_counts; i++)
            if (t->batches[b] % s->counts[i] != 0)
                return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                                "--batch %lld cannot be shared out evenly among %lld ranks: give a multiple of %lld",
                                (long long)t->batches[b], (long long)s->counts[i], (long long)s->counts[i]);
    for (int i = 0; i < s->n_counts; i++)
        for (int b = 0; b < t->n_batches; b++) {
            char number[32], *at;
            snprintf(number, sizeof number, "%lld", (long long)(t->batches[b] / (i == 0 ? 1 : s->counts[i])));
            const size_t length = strlen(number);
            for (at = s->batches; (at = strstr(at, number)) != NULL; at++) /* each once */
                if ((at == s->batches || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) break;
            if (at == NULL) cnn_append(s->batches, sizeof s->batches, "%s%s", s->batches[0] ? "," : "", number);
        }
    return CNN_OK;
}

cnn_status sweep_ranks_read(ranks_sweep *s, cnn_error *err)
{
    static train all; /* large: kept off the stack */
    static cli_options own;
    cnn_status status = read_counts(s, err);
    if (status == CNN_OK) status = check_options(s, err);
    if (status == CNN_OK) status = launch_check(s->options->launcher, err);
    own = *s->options;
    own.command = "train"; /* whose options these are */
    all = (train){.options = &own};
    if (status == CNN_OK) status = train_read_options(&all, err);
    return status == CNN_OK ? read_batches(s, &all, err) : status;
}
