/* goals.c: --until-loss: when the test loss was below each goal for the first time. A training goes on to the least of
 * them; each is a record, which says that the point is done when the same command is given again. */
#include "parts.h"

#include <math.h>
#include <stdlib.h>

static int falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

cnn_status train_read_goals(train *t, cnn_error *err)
{
    const double most = 1e9;
    t->n_goals = 0;
    for (const char *at = t->options->until_loss; at != NULL;) {
        char *end;
        const double goal = strtod(at, &end);
        if (end == at || (*end != ',' && *end != '\0'))
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--until-loss: '%.64s' is no number", at);
        if (!(goal >= 0.0 && goal <= most))
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--until-loss is %g, but must be from 0 to %g", goal, most);
        if (t->n_goals == GOALS_MAX)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--until-loss takes at most %d numbers", GOALS_MAX);
        t->goals[t->n_goals++] = goal;
        at = *end == ',' ? end + 1 : NULL;
    }
    qsort(t->goals, (size_t)t->n_goals, sizeof *t->goals, falling);
    int kept = 0;
    for (int i = 0; i < t->n_goals; i++)
        if (kept == 0 || t->goals[i] < t->goals[kept - 1]) t->goals[kept++] = t->goals[i];
    t->n_goals = kept;
    return CNN_OK;
}

bool train_reached(const train_run *r, const trainer_result *e)
{
    const train *t = r->all;
    return t->n_goals > 0 && e->test_loss < t->goals[t->n_goals - 1];
}

/* What the run has come to, at its latest epoch. Epochs of an earlier process, before a checkpoint, have no seconds
 * here. */
static cnn_status record_goal(train_run *r, int i, goal_outcome outcome, cnn_error *err)
{
    const bool whole = r->progress.epochs == r->epochs_run;
    goal_row *row = &r->goals[i];
    const double loss = row->loss, accuracy = row->accuracy;
    *row = (goal_row){.setting = r->setting,
                      .goal = r->all->goals[i],
                      .outcome = outcome,
                      .epochs = r->progress.epochs,
                      .seconds = whole && outcome != GOAL_DIVERGED ? r->train_seconds : NAN,
                      .train_s = whole && outcome != GOAL_DIVERGED ? r->trained_s : NAN,
                      .loss = loss,
                      .accuracy = accuracy};
    for (int m = 0; m < BENCH_MARK_COUNT; m++)
        if (r->sum.marked[m] > 0 && 2 * r->sum.marked[m] >= r->sum.count) row->marks |= 1u << m;
    return record_write(r->all->output.sink, goal_record(r->session, row), err);
}

cnn_status train_note_goals(train_run *r, const trainer_result *e, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = r->goals_met; i < r->all->n_goals; i++)
        r->goals[i].loss = e->test_loss, r->goals[i].accuracy = e->test_accuracy;
    while (status == CNN_OK && r->goals_met < r->all->n_goals && e->test_loss < r->all->goals[r->goals_met])
        status = record_goal(r, r->goals_met++, GOAL_REACHED, err);
    return status;
}

cnn_status train_end_goals(train_run *r, cnn_error *err)
{
    train *t = r->all;
    cnn_status status = CNN_OK;
    if (r->epochs_run == 0) return CNN_OK;
    t->sums->bad += t->n_goals > 0 && r->goals_met == 0;
    for (int i = r->goals_met; i < t->n_goals && status == CNN_OK; i++)
        status = record_goal(r, i, r->figure->diverged ? GOAL_DIVERGED : GOAL_NOT_REACHED, err);
    return status;
}

static void say(const goal_row *row, FILE *to)
{
    char spent[32];
    fprintf(to, "test loss %s below %g after %lld epoch%s, %s", row->outcome == GOAL_REACHED ? "is" : "is not",
            row->goal, (long long)row->epochs, row->epochs == 1 ? "" : "s", train_time_text(row->seconds, spent));
}

void train_say_goals(const train_run *r, FILE *to)
{
    for (int i = 0; i < r->all->n_goals && r->epochs_run > 0 && !r->failed; i++) {
        say(&r->goals[i], to);
        fputc('\n', to);
    }
}

static const goal_row *held(const train_run *r, int i)
{
    return goal_find(&r->all->held, &r->setting, r->all->goals[i], r->all->epochs);
}

bool train_goals_held(const train_run *r)
{
    for (int i = 0; i < r->all->n_goals; i++)
        if (held(r, i) == NULL) return false;
    return true;
}

void train_print_held(const train_run *r)
{
    const train *t = r->all;
    int reached = 0;
    for (int i = 0; i < t->n_goals; i++) {
        const goal_row *row = held(r, i);
        reached += row->outcome == GOAL_REACHED;
        if (t->options->json) continue;
        printf("batch %-6lld %-18s  ", (long long)r->setting.batch, r->curve->label);
        say(row, stdout);
        printf("  (already in %s)\n", t->options->out);
    }
    t->sums->bad += reached == 0;
}
