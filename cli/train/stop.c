/* stop.c: what ends a training before its last epoch, but for a goal: --patience, which waits so many epochs for the
 * test loss to fall. */
#include "parts.h"

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

bool train_open_ended(const cli_options *o)
{
    return o->until_loss != NULL || o->until_accuracy != NULL || o->patience > 0;
}

void train_say_stop(const train_run *r)
{
    const cli_options *o = r->all->options;
    const checkpoint_progress *p = &r->progress;
    FILE *to = o->json ? stderr : stdout;
    train_say_goals(r, to);
    if (train_out_of_patience(r))
        fprintf(
            to,
            "test loss has not fallen for %lld epoch%s: stopped after epoch %lld, the least was %.5f in epoch %lld\n",
            (long long)p->since_best, p->since_best == 1 ? "" : "s", (long long)p->epochs, p->best_loss,
            (long long)(p->epochs - p->since_best));
}
