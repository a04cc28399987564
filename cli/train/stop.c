/* stop.c: what ends a training before its last epoch: the loss of --until-loss, and --patience, which waits so many
 * epochs for the test loss to fall. */
#include "parts.h"

bool train_reached(const train_run *r, const trainer_result *e) { return e->test_loss < r->all->options->until_loss; }

/* What is not a number is never the least. */
void train_note_loss(train_run *r, const trainer_result *e)
{
    checkpoint_progress *p = &r->progress;
    const bool best = p->epochs == 0 || e->test_loss < p->best_loss;
    if (best) p->best_loss = e->test_loss;
    p->since_best = best ? 0 : p->since_best + 1;
    p->epochs++;
}

bool train_out_of_patience(const train_run *r)
{
    const int64_t patience = r->all->options->patience;
    return patience > 0 && r->progress.epochs > 0 && r->progress.since_best >= patience;
}

bool train_open_ended(const cli_options *o) { return o->until_loss >= 0.0 || o->patience > 0; }

void train_say_stop(const train_run *r, bool reached)
{
    const cli_options *o = r->all->options;
    const checkpoint_progress *p = &r->progress;
    FILE *to = o->json ? stderr : stdout;
    char spent[32];
    if (o->until_loss >= 0.0)
        fprintf(to, "test loss %s below %g after %lld epoch%s, %s\n", reached ? "is" : "is not", o->until_loss,
                (long long)r->epochs_run, r->epochs_run == 1 ? "" : "s", train_time_text(r->train_seconds, spent));
    if (train_out_of_patience(r))
        fprintf(
            to,
            "test loss has not fallen for %lld epoch%s: stopped after epoch %lld, the least was %.5f in epoch %lld\n",
            (long long)p->since_best, p->since_best == 1 ? "" : "s", (long long)p->epochs, p->best_loss,
            (long long)(p->epochs - p->since_best));
}
