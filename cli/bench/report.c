/* report.c: what `bench` shows on a terminal. */
#include "cli/table.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "parts.h"

#include <math.h>
#include <string.h>

static void append_caches(const bench *b, char *line)
{
    if (b->params.cold) cnn_append(line, REPRO_MAX, " --cache cold");
    if (strcmp(b->options->cache, "network") != 0) return;
    cnn_append(line, REPRO_MAX, " --cache network");
    cli_append_option(line, REPRO_MAX, "net", b->options->net);
    if (b->options->batch) cli_append_option(line, REPRO_MAX, "batch", b->options->batch);
}

void bench_repro(const bench *b, const candidate *c, const vf_case *pc, char line[REPRO_MAX])
{
    const cli_case repeated = {.command = "bench",
                               .session = c->session,
                               .algorithm = c->algorithm.name,
                               .problem = &pc->problem,
                               .dir = pc->call.dir,
                               .seed = b->options->seed};
    cli_repeat(b->options, &repeated, line, REPRO_MAX);
    append_caches(b, line);
}

static void print_tuned(const candidate *c)
{
    char text[1024];
    const tuned_pick pick = {.state = c->tuning, .choice = c->choice, .session = c->session, .algorithm = c->algorithm};
    tuned_text(&pick, text, sizeof text);
    printf("  (tuned: %s)\n", text);
}

void bench_print_repeat(const bench *b, const candidate *c, const vf_case *pc)
{
    char repro[REPRO_MAX], typed[REPRO_MAX];
    if (c->state != CANDIDATE_FAILED && c->state != CANDIDATE_WRONG) return;
    bench_repro(b, c, pc, repro);
    printf("  %-20s repeat: %s\n", "", cli_typed(b->options, repro, typed, sizeof typed));
}

/* On a narrow terminal the bandwidth goes, and marks stand on a line of their own. */
static void print_row(const bench *b, const candidate *c, const vf_case *pc, const char *rank)
{
    char name[2 * CNN_NAME_MAX], median[32], noise[32] = "  ?  ", share[48] = "", marks[128];
    const bench_stats *s = &c->result.stats;
    bench_floor floor;
    snprintf(name, sizeof name, "%s:%s", c->session->impl->name, c->tuned ? CNN_TUNED : c->algorithm.name);
    if (c->tuned) print_tuned(c);
    if (c->state != CANDIDATE_TIMED) {
        table_print(24, "  %-20s %s%s\n", name, c->state == CANDIDATE_FAILED ? "FAILED: " : "", c->reason);
        bench_print_repeat(b, c, pc);
        return;
    }
    double flops = cnn_flops(&pc->problem, pc->call.dir), bytes = cnn_bytes(&pc->problem, pc->call.dir);
    bench_time_text(s->median, median, sizeof median);
    if (isfinite(s->noise)) snprintf(noise, sizeof noise, "±%4.1f %%", s->noise * 100);
    const bench_work work = {&pc->problem, pc->call.dir, b->params.cold, s->median, &c->algorithm};
    if (bench_floor_of(&b->peaks, c->session, &work, &floor))
        snprintf(share, sizeof share, "%5.1f %% of %.32s", 100 * floor.seconds / s->median, floor.by);
    bench_marks_text(s->marks, marks, sizeof marks);
    const int width = table_field(median, 9);
    if (table_columns() == 0)
        printf("  %-20s %*s %s %9.2f GFLOP/s %8.2f GB/s  %-24s  %s%s%s%s\n", name, width, median, noise,
               flops / s->median * 1e-9, bytes / s->median * 1e-9, share, verify_state_name(c->result.check.state),
               rank, marks[0] ? "  " : "", marks);
    else
        table_print(24, "  %-20s %*s %s %9.2f GFLOP/s  %-24s%s%s%s%s\n", name, width, median, noise,
                    flops / s->median * 1e-9, share, strncmp(rank, "  tied", 6) == 0 ? "  tied" : rank,
                    marks[0] ? "\n" : "", marks[0] ? "                       " : "", marks);
}

static void print_heading(const bench *b, const vf_case *pc)
{
    char text[CNN_PROBLEM_TEXT_MAX];
    const cnn_problem *p = &pc->problem;
    cnn_problem_format(p, text);
    table_print(4, "%s %s %s  %s %s%s%s  %s caches%s%s\n", cnn_op_name(p->op), cnn_dir_name(pc->call.dir), text,
                cnn_dtype_name(p->u.type.dtype), cnn_layout_name(p->u.type.layout),
                p->u.type.math == CNN_MATH_F32 ? "" : " ",
                p->u.type.math == CNN_MATH_F32 ? "" : cnn_math_name(p->u.type.math),
                b->params.network ? "a network's"
                : b->params.cold  ? "cold"
                                  : "hot",
                b->params.network ? ": " : "", b->params.network ? b->params.network->net.name : "");
}

static void print_control(const candidate *best)
{
    if (!isfinite(best->resolution)) return;
    table_print(4, "  A/A control: the first one against itself, within %.1f %%; smaller differences may be none\n",
                100 * best->resolution);
}

/* "cpu:direct is 2.10 (2.05 to 2.16) times as fast as cpu:im2col": the ends of the interval are of both medians'
 * intervals; few samples have none. */
static void print_ratios(const candidate *list, int count, int best)
{
    const candidate *b = &list[best];
    const char *name = b->tuned ? CNN_TUNED : b->algorithm.name;
    for (int i = 0; i < count; i++) {
        const candidate *o = &list[i];
        const bench_stats *s = &b->result.stats, *t = &o->result.stats;
        char interval[48] = "";
        if (i == best || o->state != CANDIDATE_TIMED) continue;
        const bool few = (s->marks | t->marks) & BENCH_FEW;
        if (!few) snprintf(interval, sizeof interval, " (%.2f to %.2f)", t->low / s->high, t->high / s->low);
        table_print(4, "  %s:%s is %.2f%s times as fast as %s:%s%s\n", b->session->impl->name, name,
                    t->median / s->median, interval, o->session->impl->name, o->tuned ? CNN_TUNED : o->algorithm.name,
                    candidates_tied(b, o) ? ": it may as well be equal"
                    : few                 ? ", by few samples"
                                          : "");
    }
}

void bench_print(const bench *b, const candidate *list, int count, const vf_case *pc)
{
    const int best = candidates_best(list, count);
    int timed = 0;
    for (int i = 0; i < count; i++) timed += list[i].state == CANDIDATE_TIMED;
    const bool ranked = timed > 1 && best >= 0; /* all may beat their ceilings */
    print_heading(b, pc);
    if (b->options->find) bench_find_print(b, list, count, pc);
    for (int i = 0; i < count && !b->options->find; i++) {
        const bool tied = ranked && i != best && candidates_tied(&list[best], &list[i]);
        print_row(b, &list[i], pc, ranked && i == best ? "  best" : tied ? "  tied with the best" : "");
        bench_counters_print(&list[i]);
    }
    if (ranked) print_control(&list[best]);
    if (ranked && !b->options->find) print_ratios(list, count, best);
    fflush(stdout);
}
