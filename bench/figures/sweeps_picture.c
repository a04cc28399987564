/* sweeps_picture.c: what plots/sweep_line.gp and plots/sweep_map.gp are given. */
#include "bench/measure/stats.h"
#include "gnuplot.h"
#include "harness/base/text.h"
#include "series.h"
#include "sweeps.h"

#include <math.h>
#include <string.h>

static double shown(const sweeps_set *set, const sweeps_point *p, double seconds)
{
    return set->relative ? seconds / p->baseline : seconds;
}

/* The best of the group's points with these values of the axes that are drawn; second -1: of any. NULL: none was timed.
 */
static const sweeps_point *best_at(const sweeps_set *set, int group, int first, int second)
{
    const sweeps_point *best = NULL;
    for (int i = 0; i < set->count; i++) {
        const sweeps_point *p = &set->points[i];
        if (p->group != group || p->values[set->drawn[0]] != first) continue;
        if (second >= 0 && p->values[set->drawn[1]] != second) continue;
        if (best == NULL || shown(set, p, p->seconds) < shown(set, best, best->seconds)) best = p;
    }
    return best;
}

static const sweeps_point *best_of_all(const sweeps_set *set)
{
    const sweeps_point *best = NULL;
    for (int i = 0; i < set->count; i++)
        if (best == NULL || shown(set, &set->points[i], set->points[i].seconds) < shown(set, best, best->seconds))
            best = &set->points[i];
    return best;
}

static void put_values(FILE *to, const char *name, const sweeps_axis *axis)
{
    for (int place = 0; place < axis->count; place++) gnuplot_text(to, name, place, axis->values[axis->order[place]]);
}

/* The settings of the best point. */
static void describe_best(const sweeps_set *set, char *text, size_t size)
{
    const sweeps_point *best = best_of_all(set);
    char seconds[32];
    bench_time_text(best->seconds, seconds, sizeof seconds);
    snprintf(text, size, "best:");
    for (int a = 0; a < set->n_axes; a++)
        if (set->axes[a].count > 1)
            cnn_append(text, size, " %s=%s", set->axes[a].name, set->axes[a].values[best->values[a]]);
    cnn_append(text, size, ", %s", seconds);
}

static void put_map(FILE *to, const sweeps_set *set)
{
    const sweeps_axis *across = &set->axes[set->drawn[0]], *down = &set->axes[set->drawn[1]];
    const sweeps_point *best = best_of_all(set);
    fputs("$cells << EOD\n", to);
    for (int y = 0; y < down->count; y++)
        for (int x = 0; x < across->count; x++) {
            const sweeps_point *p = best_at(set, set->only, across->order[x], down->order[y]);
            if (p == NULL)
                fprintf(to, "%d %d nan 0 0\n", x, y);
            else
                fprintf(to, "%d %d %.9g %d %d\n", x, y, shown(set, p, p->seconds), p->marked, p == best);
        }
    fputs("EOD\n", to);
}

static void put_lines(FILE *to, const sweeps_set *set)
{
    const sweeps_axis *across = &set->axes[set->drawn[0]];
    fputs("$curves << EOD\n", to);
    for (int g = 0; g < set->n_groups; g++, fputs("\n\n", to))
        for (int x = 0; x < across->count; x++) {
            const sweeps_point *p = best_at(set, g, across->order[x], -1);
            if (p == NULL) continue;
            const double low = p->low > 0 ? p->low : p->seconds, high = p->high > 0 ? p->high : p->seconds;
            fprintf(to, "%d %.9g %.9g %.9g %d\n", x, shown(set, p, p->seconds), shown(set, p, low), shown(set, p, high),
                    p->marked);
        }
    fputs("EOD\n", to);
}

cnn_status sweeps_picture(FILE *to, void *user, cnn_error *err)
{
    const sweeps_set *set = user;
    const bool map = sweeps_is_map(set);
    char text[512], machine[CNN_NAME_MAX], others[256] = "";
    (void)err;
    series_machine(set->groups[set->only].machine, machine, sizeof machine);
    for (int a = 0; map && a < set->n_axes; a++)
        if (set->axes[a].count > 1 && a != set->drawn[0] && a != set->drawn[1])
            cnn_append(others, sizeof others, "%s%s", others[0] ? ", " : "; each at the best of ", set->axes[a].name);
    snprintf(text, sizeof text, "%s over %s%s%s", set->relative ? "Time by the default's" : "Time",
             set->axes[set->drawn[0]].name, map ? " and " : "", map ? set->axes[set->drawn[1]].name : "");
    gnuplot_text(to, "title", -1, text);
    snprintf(text, sizeof text, "%s%s%s%s", map ? set->groups[set->only].name : machine, map ? "; " : "",
             map ? machine : "", others);
    gnuplot_text(to, "line", 0, text);
    describe_best(set, text, sizeof text);
    gnuplot_text(to, "line", 1, text);
    gnuplot_text(to, "across", -1, set->axes[set->drawn[0]].name);
    put_values(to, "x", &set->axes[set->drawn[0]]);
    fprintf(to, "wide=%d\nrelative=%d\n", set->axes[set->drawn[0]].count, set->relative);
    if (map) {
        gnuplot_text(to, "down", -1, set->axes[set->drawn[1]].name);
        put_values(to, "y", &set->axes[set->drawn[1]]);
        fprintf(to, "tall=%d\n", set->axes[set->drawn[1]].count);
        put_map(to, set);
        return CNN_OK;
    }
    fprintf(to, "count=%d\n", set->n_groups);
    for (int g = 0; g < set->n_groups; g++) gnuplot_text(to, "name", g, set->groups[g].name);
    put_lines(to, set);
    return CNN_OK;
}
