/* goals.c: --until-loss, --until-accuracy: when each goal was met for the first time. A training goes on to the last of
 * them; each is a record, which says that the point is done when the same command is given again. */
#include "parts.h"

#include <math.h>
#include <stdlib.h>

static int falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static int rising(const void *a, const void *b) { return falling(b, a); }

static cnn_status read_list(train *t, const char *option, const char *list, double most, cnn_error *err)
{
    for (const char *at = list; at != NULL;) {
        char *end;
        const double goal = strtod(at, &end);
        if (end == at || (*end != ',' && *end != '\0'))
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s: '%.64s' is no number", option, at);
        if (!(goal >= 0.0 && goal <= most))
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s is %g, but must be from 0 to %g%s", option, goal, most,
                            t->goal_of == GOAL_ACCURACY ? ": 0.99 is 99 %" : "");
        if (t->n_goals == GOALS_MAX)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s takes at most %d numbers", option, GOALS_MAX);
        t->goals[t->n_goals++] = goal;
        at = *end == ',' ? end + 1 : NULL;
    }
    return CNN_OK;
}

cnn_status train_read_goals(train *t, cnn_error *err)
{
    const bool accuracy = t->options->until_accuracy != NULL;
    const double most_loss = 1e9;
    t->n_goals = 0;
    t->goal_of = accuracy ? GOAL_ACCURACY : GOAL_LOSS;
    const cnn_status status = accuracy ? read_list(t, "until-accuracy", t->options->until_accuracy, 1.0, err)
                                       : read_list(t, "until-loss", t->options->until_loss, most_loss, err);
    if (status != CNN_OK) return status;
    qsort(t->goals, (size_t)t->n_goals, sizeof *t->goals, accuracy ? rising : falling);
    int kept = 0;
    for (int i = 0; i < t->n_goals; i++)
        if (kept == 0 || falling(&t->goals[i], &t->goals[kept - 1]) != 0) t->goals[kept++] = t->goals[i];
    t->n_goals = kept;
    return CNN_OK;
}

static bool meets(const train *t, int i, const trainer_result *e)
{
    return goal_met(t->goal_of, t->goals[i], e->test_loss, e->test_accuracy);
}

bool train_reached(const train_run *r, const trainer_result *e)
{
    const train *t = r->all;
    return t->n_goals > 0 && meets(t, t->n_goals - 1, e);
}

/* What the run has come to, at its latest epoch. Epochs of an earlier process, before a checkpoint, have no seconds
 * here. */
static cnn_status record_goal(train_run *r, int i, goal_outcome outcome, cnn_error *err)
{
    const bool whole = r->progress.epochs == r->epochs_run;
    goal_row *row = &r->goals[i];
    const double loss = row->loss, accuracy = row->accuracy;
    *row = (goal_row){.setting = r->setting,
                      .of = r->all->goal_of,
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
    while (status == CNN_OK && r->goals_met < r->all->n_goals && meets(r->all, r->goals_met, e))
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
    const bool accuracy = row->of == GOAL_ACCURACY;
    char spent[32], goal[64];
    fprintf(to, "test %s %s %s %s after %lld epoch%s, %s", accuracy ? "accuracy" : "loss",
            row->outcome == GOAL_REACHED ? "is" : "is not", accuracy ? "at least" : "below",
            goal_text(row->of, row->goal, goal), (long long)row->epochs, row->epochs == 1 ? "" : "s",
            train_time_text(row->seconds, spent));
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
    return goal_find(&r->all->held, &r->setting, r->all->goal_of, r->all->goals[i], r->all->epochs);
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
