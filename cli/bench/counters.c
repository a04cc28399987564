/* counters.c: `bench --counters`: what the processor counted while a kernel ran, by runs of their own behind the
 * timing. */
#include "harness/cpu/counters.h"

#include "bench/measure/plain_runs.h"
#include "cli/table.h"
#include "harness/base/text.h"
#include "parts.h"

#include <math.h>
#include <string.h>

static bool on_host(const cnn_session *session) { return session->impl->device_kind == CNN_DEVICE_CPU; }

cnn_status bench_counters_check(const bench *b, cnn_error *err)
{
    if (b->events == 0) return CNN_OK;
    for (int i = 0; i < b->sessions.count; i++)
        if (on_host(&b->sessions.list[i])) return CNN_OK;
    return CNN_FAIL(
        err, CNN_BAD_ARGUMENT,
        "--counters are the processor's, and nothing that was chosen runs there; for a GPU run its profiler "
        "around `benchcnn bench --runs 3`: see docs/bench.md");
}

/* A tenth of a second, so that what the counters' start and stop add is nothing. */
static int64_t runs_for(double seconds)
{
    const double runs = ceil(0.1 / fmax(seconds, 1e-7));
    return runs < 3 ? 3 : (int64_t)runs;
}

static cnn_status count_one(const bench *b, candidate *c, const vf_case *pc, cnn_error *err)
{
    char name[3 * CNN_NAME_MAX];
    snprintf(name, sizeof name, "%s:%s counted", c->session->impl->name, c->algorithm.name);
    const plain_runs runs = {.session = c->session,
                             .algorithm = &c->algorithm,
                             .c = c->own ? c->own : pc,
                             .name = name,
                             .runs = runs_for(c->result.stats.median),
                             .stop = interrupt_seen,
                             .events = b->events,
                             .counted = &c->counted};
    return plain_runs_do(&runs, err);
}

/* What fails in the runs that are counted has failed. Where there is no room for a second set of its arrays, its figure
 * still holds. */
static void without_counts(candidate *c, const cnn_error *err)
{
    if (err->status == CNN_OUT_OF_MEMORY) {
        table_put(stderr, "benchcnn: %s:%s is not counted: %s\n", c->session->impl->name, c->algorithm.name,
                  err->message);
        return;
    }
    c->state = CANDIDATE_FAILED;
    snprintf(c->reason, sizeof c->reason, "when it was counted: %.400s", err->message);
}

cnn_status bench_count(bench *b, candidate *list, int count, const vf_case *pc, cnn_error *err)
{
    for (int i = 0; i < count && b->events != 0; i++) {
        candidate *c = &list[i];
        if (c->state != CANDIDATE_TIMED || !on_host(c->session)) continue;
        bench_in_hand(b, c);
        const cnn_status status = count_one(b, c, pc, err);
        if (status == CNN_INTERRUPTED) return status;
        if (status != CNN_OK) without_counts(c, err);
        for (int e = 0; e < COUNTER_COUNT; e++)
            if (c->counted.why[e] != 0) b->sums->refused[e] = c->counted.why[e];
    }
    return CNN_OK;
}

/* "12.3 M": three digits of what one run came to. */
static const char *amount(double value, char text[32])
{
    static const char *const units[] = {"", " k", " M", " G", " T"};
    int unit = 0;
    for (; value >= 1000 && unit < 4; unit++) value /= 1000;
    snprintf(text, 32, value > 0 && value < 0.01 && unit == 0 ? "%.1e%s" : "%.3g%s", value, units[unit]);
    return text;
}

static bool counted(const counter_report *r, counter_event e) { return r->events & 1u << e && r->count[e] >= 0; }

void bench_counters_print(const candidate *c)
{
    const counter_report *r = &c->counted;
    char line[1024] = "", text[32];
    if (r->events == 0) return;
    for (int e = 0; e < COUNTER_COUNT; e++)
        if (counted(r, (counter_event)e))
            cnn_append(line, sizeof line, "%s%s %s", line[0] ? ", " : "",
                       amount((double)r->count[e] / (double)r->runs, text), counter_name((counter_event)e));
    if (counted(r, COUNTER_instructions) && counted(r, COUNTER_cycles) && r->count[COUNTER_cycles] > 0)
        cnn_append(line, sizeof line, "; %.2f instructions a cycle",
                   (double)r->count[COUNTER_instructions] / (double)r->count[COUNTER_cycles]);
    if (r->share < 0.995)
        cnn_append(line, sizeof line, "; scaled up: the rarest was counted in %.0f %% of the time", 100 * r->share);
    if (line[0]) table_print(25, "  %-20s a run: %s\n", "", line);
}

/* One line for each reason. */
void bench_counters_refused(const bench *b)
{
    int why[COUNTER_COUNT];
    memcpy(why, b->sums->refused, sizeof why);
    for (int first = 0; first < COUNTER_COUNT; first++) {
        char names[512] = "";
        const int reason = why[first];
        for (int e = first; reason != 0 && e < COUNTER_COUNT; e++) {
            if (why[e] != reason) continue;
            cnn_append(names, sizeof names, "%s%s", names[0] ? ", " : "", counter_name((counter_event)e));
            why[e] = 0;
        }
        if (reason != 0) table_print(4, "not counted: %s: %s\n", names, counter_why(reason));
    }
}
