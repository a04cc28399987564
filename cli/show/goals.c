/* goals.c: `plot goals`: a table of epochs and seconds to each goal over batch size, published ones first; and over
 * several seeds their means. */
#include "bench/figures/goals.h"
#include "cli/table.h"
#include "parts.h"

#include <math.h>
#include <string.h>

enum { BATCH_WIDTH = 7, GAP = 2, CELL = 17 }; /* CELL: epochs and seconds */

static int width_of(const goals_curve *c)
{
    const int label = table_width(c->label), facts = table_width(c->facts), wider = label > facts ? label : facts;
    return wider > CELL ? wider : CELL;
}

static const goals_point *point_at(const goals_curve *c, double batch)
{
    for (int i = 0; i < c->count; i++)
        if (c->points[i].batch >= batch && c->points[i].batch <= batch) return &c->points[i];
    return NULL;
}

static void cell_text(const goals_point *p, char *text, size_t size)
{
    if (p == NULL)
        snprintf(text, size, "-");
    else if (p->epochs > 0.0 && isfinite(p->seconds))
        snprintf(text, size, "%6g  %9.2f", p->epochs, p->seconds);
    else if (p->epochs > 0.0)
        snprintf(text, size, "%6g  not timed", p->epochs);
    else
        snprintf(text, size, "not in %lld", (long long)p->tried);
}

/* The curves in the order of the columns: the published one, which is the set's last, first. */
static const goals_curve *column(const goals_set *set, int i)
{
    return set->published ? &set->list[i == 0 ? set->count - 1 : i - 1] : &set->list[i];
}

/* The next larger batch that any curve has; 0: none. */
static double next_batch(const goals_set *set, double behind)
{
    double next = INFINITY;
    for (int i = 0; i < set->count; i++)
        for (int k = 0; k < set->list[i].count; k++) {
            const double batch = set->list[i].points[k].batch;
            if (batch > behind && batch < next) next = batch;
        }
    return isfinite(next) ? next : 0.0;
}

/* In what the curves differ beside their names: the number's type, the layout, the machine. */
static void print_facts(const goals_set *set, int first, int end)
{
    bool any = false;
    for (int i = first; i < end; i++) any = any || column(set, i)->facts[0] != '\0';
    if (!any) return;
    printf("\n%*s", BATCH_WIDTH, "");
    for (int i = first; i < end; i++) printf("%*s%*s", GAP, "", width_of(column(set, i)), column(set, i)->facts);
}

static void print_columns(const goals_set *set, int first, int end)
{
    char text[64], goal[64];
    printf("%*s", BATCH_WIDTH, "");
    for (int i = first; i < end; i++) printf("%*s%*s", GAP, "", width_of(column(set, i)), column(set, i)->label);
    print_facts(set, first, end);
    printf("\n%*s", BATCH_WIDTH, "goal");
    for (int i = first; i < end; i++)
        printf("%*s%*s", GAP, "", width_of(column(set, i)), goal_text(column(set, i)->of, column(set, i)->goal, goal));
    printf("\n%*s", BATCH_WIDTH, "batch");
    for (int i = first; i < end; i++) printf("%*s%*s", GAP, "", width_of(column(set, i)), "epochs    seconds");
    putchar('\n');
    for (double batch = next_batch(set, 0.0); batch > 0.0; batch = next_batch(set, batch)) {
        printf("%*g", BATCH_WIDTH, batch);
        for (int i = first; i < end; i++) {
            cell_text(point_at(column(set, i), batch), text, sizeof text);
            printf("%*s%*s", GAP, "", width_of(column(set, i)), text);
        }
        putchar('\n');
    }
}

/* "0.183 (0.175 to 0.191)" */
static void mean_text(const goals_mean *m, char *text, size_t size)
{
    if (isnan(m->mean))
        snprintf(text, size, "-");
    else if (isnan(m->low))
        snprintf(text, size, "%.4g", m->mean);
    else
        snprintf(text, size, "%.4g (%.4g to %.4g)", m->mean, m->low, m->high);
}

/* A row for each point of several seeds. */
static void show_means(const goals_set *set)
{
    char goal[64], reached[32], epochs[64], seconds[64], training[64];
    bool begun = false;
    for (int i = 0; i < set->count - set->published; i++)
        for (int k = 0; k < set->list[i].count; k++) {
            const goals_curve *c = &set->list[i];
            const goals_point *p = &c->points[k];
            if (p->trained < 2) continue;
            if (!begun)
                table_put(stdout,
                          "\nmeans over the seeds that reached the goal, and their 95 %% intervals (Student's t)\n"
                          "%7s  %7s  %9s  %-24s  %-26s  %-26s\n",
                          "batch", "goal", "reached", "epochs", "seconds, tests included", "seconds of training");
            begun = true;
            snprintf(reached, sizeof reached, "%d of %d", p->reached, p->trained);
            mean_text(&p->mean_epochs, epochs, sizeof epochs);
            mean_text(&p->mean_seconds, seconds, sizeof seconds);
            mean_text(&p->mean_train_s, training, sizeof training);
            table_print(9, "%7g  %7s  %9s  %-24s  %-26s  %-26s  %s%s%s\n", p->batch, goal_text(c->of, c->goal, goal),
                        reached, epochs, seconds, training, c->label, c->facts[0] ? ", " : "", c->facts);
        }
}

void show_goals(const goals_set *set)
{
    const int room = table_columns();
    table_put(stdout, "epochs and seconds until the %s; %s\n",
              !set->has[GOAL_ACCURACY] ? "mean test loss is below the goal"
              : !set->has[GOAL_LOSS]   ? "test accuracy is at least the goal"
                                       : "goal: a mean test loss below it, or a test accuracy, in %, of it",
              set->subtitle);
    for (int first = 0, end; first < set->count; first = end) {
        int width = BATCH_WIDTH;
        for (end = first; end < set->count; end++) {
            width += GAP + width_of(column(set, end));
            if (room > 0 && width > room && end > first) break;
        }
        print_columns(set, first, end);
    }
    show_means(set);
}
