/* step.c: a worker's part of a call: its images of each batch, the hand-overs, its share of the update. */
#include "fused.h"

#include "impl_cpu/cpu.h"

#include <sched.h>
#include <string.h>

/* ---- Hand-over: goes on when all workers are here. They are all under way at once (threads.h), and mostly not apart
 * by more than some microseconds; a worker whose core is taken from it is let in after a while. */

static inline void pause_core(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void meet(const cnn_trainer *t, int id, unsigned *generation)
{
    if (t->workers_n == 1) return;
    const unsigned now = ++*generation;
    atomic_store_explicit(&t->flags[id].generation, now, memory_order_release);
    for (int i = 0; i < t->workers_n; i++) {
        int spins = 0;
        while ((int)(atomic_load_explicit(&t->flags[i].generation, memory_order_acquire) - now) < 0)
            if (++spins < t->spins)
                pause_core();
            else
                sched_yield();
    }
}

/* ---- A batch. */

/* Leaves from `leaf` on that make a chunk, and are this worker's. */
static int64_t chunk_end(const cnn_trainer *t, int64_t leaf, int64_t end)
{
    int64_t last = leaf + 1;
    while (last < end && t->plan.leaf[last + 1].first - t->plan.leaf[leaf].first <= t->chunk) last++;
    return last;
}

static void compute(const fused_call *call, int id, int64_t first, int64_t mb, int64_t step)
{
    const cnn_trainer *t = call->t;
    const fused_leaf *leaf = t->plan.leaf;
    const int64_t begin = t->plan.leaves * id / t->workers_n, end = t->plan.leaves * (id + 1) / t->workers_n;
    fused_worker *w = &t->workers[id];
    for (int64_t i = begin, next; i < end && leaf[i].first < mb; i = next) {
        next = chunk_end(t, i, end);
        const int64_t at = leaf[i].first, n = cpu_min(leaf[next].first, mb) - at;
        const int64_t more = next < end && leaf[next].first < mb ? leaf[next].first : mb + leaf[begin].first;
        w->draw = (fused_draw){false, step, t->rank * mb + at};
        fused_forward(t, w, call->images, first + at, n, first + more);
        for (int64_t k = i; k < next && leaf[k].first < mb; k++)
            t->parts[k] = fused_loss(t, w, leaf[k].first - at, cpu_min(leaf[k + 1].first, mb) - at,
                                     1.0 / (double)(mb * t->ranks), true);
        fused_lap_of(w, t->net->n_layers - 1, CNN_FWD);
        if (i == begin) fused_turn(t, w);
        fused_lap(w, FUSED_LAP_TURN);
        fused_backward(t, w, i, next, mb);
    }
    fused_merge(t, id, mb);
    fused_lap(w, FUSED_LAP_MERGE);
}

/* ---- Update. */

static const float *masked(const cnn_trainer *t, const float *gradient, int64_t at, int64_t n, float *sums)
{
    if (!t->masked) return gradient;
    for (int64_t i = 0; i < n; i++) sums[i] = t->mask[at + i] ? gradient[i] : 0;
    return sums;
}

static void update_unit(const cnn_trainer *t, fused_worker *w, const float *gradient, int64_t at, int64_t n,
                        int64_t step)
{
    if (w->by_adam) {
        t->kern->adam(&w->adam, gradient, t->params + at, t->state[0] + at, t->state[1] + at, n);
        return;
    }
    cnn_plan plan = {.problem.op = CNN_OP_OPTIMIZER};
    cnn_optimizer_args args = {.w = t->params + at, .grad = gradient, .step = &step};
    cnn_error ignored; /* it cannot fail */
    plan.problem.u.optimizer = t->optimizer;
    plan.problem.u.optimizer.count = n;
    for (int i = 0; i < cnn_optimizer_states(t->optimizer.kind); i++) args.state[i] = t->state[i] + at;
    (void)cpu_optimizer_step((cnn_context *)&w->serial, &plan, &args, &ignored);
    for (int64_t i = 0; i < n && t->masked; i++) t->params[at + i] = t->mask[at + i] ? t->params[at + i] : 0;
}

/* Worker `id`'s share of the parameters, of those that are late or of the others, in whole lines or cuts. */
typedef struct share {
    int64_t begin, end;
} share;
static share share_of(const cnn_trainer *t, int id, bool late)
{
    const int64_t begin = late ? t->early_elems : 0, by = late ? FUSED_CUT : FUSED_MAX_LANES;
    const int64_t count = (late ? t->packed_elems - t->early_elems : t->early_elems) / by;
    return (share){begin + count * id / t->workers_n * by, begin + count * (id + 1) / t->workers_n * by};
}

/* The next numbers of a share, from `at` on, that are summed up and updated together. */
static fused_piece piece_of(const cnn_trainer *t, share s, int64_t at, bool late)
{
    return late ? fused_piece_at(t, at, s.end) : (fused_piece){.n = cpu_min(FUSED_UNIT, s.end - at)};
}

/* Their gradients. */
static const float *gradient_of(const cnn_trainer *t, fused_worker *w, const fused_piece *p, int64_t at, int64_t mb,
                                bool late)
{
    if (!late) return masked(t, fused_gradient(t, at, p->n, mb, w->sums), at, p->n, w->sums);
    fused_lap(w, FUSED_LAP_UPDATE);
    const float *gradient = masked(t, fused_late_gradient(t, p, mb, w->sums), at, p->n, w->sums);
    fused_lap_of(w, p->layer, CNN_BWD_W);
    return gradient;
}

/* All gradients of the worker to t->grads. */
static void collect(const cnn_trainer *t, int id, int64_t mb)
{
    fused_worker *w = &t->workers[id];
    for (int late = 0; late < 2; late++) {
        const share s = share_of(t, id, late);
        fused_piece p;
        for (int64_t at = s.begin; at < s.end; at += p.n) {
            p = piece_of(t, s, at, late);
            memcpy(t->grads + at, gradient_of(t, w, &p, at, mb, late), (size_t)p.n * sizeof(float));
        }
    }
}

/* Their gradients, or those of all ranks, and their update. */
static void finish(const fused_call *call, int id, int64_t mb, int64_t step, bool last)
{
    const cnn_trainer *t = call->t;
    fused_worker *w = &t->workers[id];
    fused_adam_begin(t, w, step);
    for (int late = 0; late < 2; late++) {
        const share s = share_of(t, id, late);
        fused_piece p;
        for (int64_t at = s.begin; at < s.end; at += p.n) {
            p = piece_of(t, s, at, late);
            const float *gradient = t->ranks > 1 ? t->grads + at : gradient_of(t, w, &p, at, mb, late);
            if (last && t->ranks == 1) memcpy(t->grads + at, gradient, (size_t)p.n * sizeof *gradient);
            if (!call->update) continue;
            update_unit(t, w, gradient, at, p.n, step);
            if (late) fused_late_turn(t, &p, at);
        }
    }
}

/* The caller's thread asks the other ranks: worker 0, as parallel_for() counts. False where that failed, to all
 * workers. */
static bool add_ranks(fused_call *call, int id, int worker, int64_t mb, unsigned *generation)
{
    cnn_trainer *t = call->t;
    if (t->ranks == 1) return true;
    collect(t, id, mb);
    meet(t, id, generation);
    if (worker == 0) call->status = t->sum(t->sum_user, t->grads, t->packed_elems, CNN_F32, call->err);
    meet(t, id, generation);
    return call->status == CNN_OK;
}

static void add_parts(const cnn_trainer *t, int64_t mb)
{
    double loss = 0;
    int64_t correct = 0;
    for (int64_t i = 0; i < t->plan.leaves && t->plan.leaf[i].first < mb; i++) {
        loss += t->parts[i].loss;
        correct += t->parts[i].correct;
    }
    *t->loss_sum += loss;
    *t->correct += correct;
}

void fused_steps(void *arg, int64_t task, int worker)
{
    fused_call *call = arg;
    const cnn_trainer *t = call->t;
    const int id = (int)task;
    unsigned generation = atomic_load_explicit(&t->flags[id].generation, memory_order_relaxed);
    int64_t step = t->step;
    fused_worker *w = &t->workers[id];
    fused_laps_begin(t, id, false);
    for (int64_t at = 0, mb; at < call->count; at += mb, step++) {
        mb = cpu_min(call->count - at, t->net->batch);
        compute(call, id, call->first + at, mb, step);
        meet(t, id, &generation);
        fused_lap(w, FUSED_LAP_WAIT);
        if (!add_ranks(call, id, worker, mb, &generation)) return;
        finish(call, id, mb, step, at + mb == call->count);
        if (id == 0) add_parts(t, mb);
        fused_lap(w, FUSED_LAP_UPDATE);
        meet(t, id, &generation);
        fused_lap(w, FUSED_LAP_WAIT);
    }
}

/* ---- Test: chunks of images, whose sums the caller adds up. */

void fused_test_share(void *arg, int64_t task, int worker)
{
    const fused_call *call = arg;
    const cnn_trainer *t = call->t;
    const int64_t chunks = cpu_ceil_div(call->count, t->chunk);
    fused_worker *w = &t->workers[task];
    (void)worker;
    w->draw = (fused_draw){.inference = true};
    fused_laps_begin(t, (int)task, true);
    for (int64_t i = chunks * task / t->workers_n; i < chunks * (task + 1) / t->workers_n; i++) {
        const int64_t at = i * t->chunk, n = cpu_min(t->chunk, call->count - at);
        fused_forward(t, w, call->images, call->first + at, n, call->first + at + n);
        t->parts[i] = fused_loss(t, w, 0, n, 0, false);
        fused_lap_of(w, t->net->n_layers - 1, CNN_FWD);
    }
}
