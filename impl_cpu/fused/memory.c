/* memory.c: the memory of a trainer, and of each worker. */
#include "fused.h"

#include <stdlib.h>
#include <string.h>

/* Kernels read whole vectors, past the last pixel. */
static float *take_numbers(cpu_arena *arena, int64_t count, int64_t each)
{
    int64_t elems = 0;
    if (!cnn_mul(count, each, &elems)) arena->overflow = true;
    return cpu_take(arena, elems + 2 * FUSED_MAX_LANES, 1, sizeof(float));
}

/* Whether a value, or its gradient, is kept of the whole batch. */
static bool keeps(const cnn_trainer *t, int value, bool grad)
{
    for (int l = 0; l < t->net->n_layers; l++)
        if (t->layers[l].late && (grad ? t->layers[l].out : t->layers[l].in) == value) return true;
    return false;
}

static void take_worker(cnn_trainer *t, fused_worker *w, cpu_arena *arena)
{
    const cnn_net *net = t->net;
    const cnn_value *x = &net->values[0];
    cnn_loss_desc loss = net->layers[net->n_layers - 1].problem.u.loss;
    int64_t scratch = 0;
    for (int l = 0; l < net->n_layers; l++)
        if (!t->layers[l].late)
            scratch = cpu_max(scratch, t->layers[l].conv.elems + fused_padded(t->layers[l].conv.c.oc));
    loss.mb = t->chunk;
    w->serial = (cpu_context){.threads = 1, .isa = t->cpu->isa};
    w->value = cpu_take(arena, net->n_values, 1, sizeof *w->value);
    w->grad = cpu_take(arena, net->n_values, 1, sizeof *w->grad);
    for (int v = 0; v < net->n_values; v++) {
        float *value = take_numbers(arena, t->chunk, t->elems[v]);
        float *grad = t->shares[v] ? value : take_numbers(arena, t->chunk, t->elems[v]);
        if (arena->base == NULL) continue;
        w->value[v] = value;
        w->grad[v] = grad;
    }
    w->picture = take_numbers(arena, x->c * x->h, x->w);
    w->turned = take_numbers(arena, t->turned_elems, 1);
    w->scratch = take_numbers(arena, scratch, 1);
    w->sums = take_numbers(arena, FUSED_UNIT, FUSED_SUM_DEPTH);
    w->logits = take_numbers(arena, t->chunk, net->classes);
    w->dlogits = take_numbers(arena, t->chunk, net->classes);
    w->labels = cpu_take(arena, t->chunk, 1, sizeof *w->labels);
    w->loss_parts = cpu_take(arena, (int64_t)cpu_loss_workspace(&loss, CNN_FWD), 1, 1);
}

static void take_kept(cnn_trainer *t, cpu_arena *arena)
{
    const int64_t images = t->net->batch;
    t->turned = take_numbers(arena, t->late_turned_elems, 1);
    t->kept_value = cpu_take(arena, t->net->n_values, 1, sizeof *t->kept_value);
    t->kept_grad = cpu_take(arena, t->net->n_values, 1, sizeof *t->kept_grad);
    for (int v = 0; v < t->net->n_values; v++) {
        float *value = keeps(t, v, false) ? take_numbers(arena, images, t->elems[v]) : NULL;
        float *grad = keeps(t, v, true) ? take_numbers(arena, images, t->elems[v]) : NULL;
        if (arena->base == NULL) continue;
        t->kept_value[v] = value;
        t->kept_grad[v] = grad;
    }
}

static void take_all(cnn_trainer *t, cpu_arena *arena)
{
    t->flags = cpu_take(arena, t->workers_n, 1, sizeof *t->flags);
    t->workers = cpu_take(arena, t->workers_n, 1, sizeof *t->workers);
    t->params = take_numbers(arena, t->packed_elems, 1);
    t->grads = take_numbers(arena, t->packed_elems, 1);
    for (int i = 0; i < cnn_optimizer_states(t->optimizer.kind); i++)
        t->state[i] = take_numbers(arena, t->packed_elems, 1);
    t->slots = take_numbers(arena, t->early_elems, t->plan.slots);
    t->mask = cpu_take(arena, t->masked ? t->packed_elems : 0, 1, sizeof *t->mask);
    t->parts = cpu_take(arena, cpu_max(t->plan.leaves, FUSED_TEST_PARTS), 1, sizeof *t->parts);
    t->laps = cpu_take(arena, t->profiled ? 2 * fused_laps_of(t->net) : 0, 1, sizeof *t->laps);
    t->lap_list = cpu_take(arena, t->profiled ? 2 * fused_laps_of(t->net) : 0, 1, sizeof *t->lap_list);
    take_kept(t, arena);
    fused_worker counted;
    for (int i = 0; i < t->workers_n; i++) take_worker(t, arena->base != NULL ? &t->workers[i] : &counted, arena);
}

cnn_status fused_allocate(cnn_trainer *t, size_t *bytes, cnn_error *err)
{
    cpu_arena arena = {.used = 0};
    take_all(t, &arena);
    if (arena.overflow) return CNN_FAIL(err, CNN_OVERFLOW, "the memory of cpu:fused is more than can be addressed");
    *bytes = (size_t)arena.used;
    if ((t->memory = aligned_alloc(CNN_ALIGN, *bytes)) == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for trainer cpu:fused: %zu bytes", *bytes);
    memset(t->memory, 0, *bytes);
    arena = (cpu_arena){.base = t->memory};
    take_all(t, &arena);
    return CNN_OK;
}
