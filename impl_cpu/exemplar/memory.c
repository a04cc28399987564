/* memory.c: the memory of a trainer, in one piece. */
#include "exemplar.h"

#include "harness/cnn/shape.h"

#include <stdlib.h>
#include <string.h>

static void cut_worker(exemplar *t, exemplar_worker *w, bool trains, cpu_arena *arena)
{
    const cnn_net *net = t->net;
    const size_t elem = cnn_dtype_size(net->type.dtype);
    const cnn_loss_desc *loss = &net->layers[net->n_layers - 1].problem.u.loss;
    void *params = trains ? cpu_take(arena, net->trained_elems, 1, elem) : NULL;
    void **value = cpu_take(arena, net->n_values, 1, sizeof *value);
    void **grad = cpu_take(arena, net->n_values, 1, sizeof *grad);
    for (int v = 0; v < net->n_values; v++) {
        const cnn_value *x = &net->values[v];
        void *of_value = cpu_take(arena, x->c * x->h * x->w, 1, elem);
        void *of_grad = cpu_take(arena, x->c * x->h * x->w, 1, elem);
        if (arena->base != NULL) value[v] = of_value, grad[v] = of_grad;
    }
    cnn_loss_desc one = *loss;
    one.mb = 1;
    void *room = cpu_take(arena, (int64_t)cpu_loss_workspace(&one, CNN_FWD), 1, 1);
    if (arena->base == NULL) return;
    *w = (exemplar_worker){.params = params,
                           .value = value,
                           .grad = grad,
                           .serial = {.threads = 1, .isa = t->cpu->isa},
                           .loss_room = room};
}

/* With a NULL base only counts. */
static void cut(exemplar *t, cpu_arena *arena)
{
    const size_t elem = cnn_dtype_size(t->net->type.dtype);
    t->worker = cpu_take(arena, t->n_workers, 1, sizeof *t->worker);
    t->copies = cpu_take(arena, t->workers, 1, sizeof *t->copies);
    t->shares = cpu_take(arena, t->workers, 1, sizeof *t->shares);
    t->params = cpu_take(arena, t->net->trained_elems, 1, elem);
    t->grads = cpu_take(arena, t->net->trained_elems, 1, elem);
    for (int64_t k = 0; k < t->n_workers && !arena->overflow; k++)
        cut_worker(t, arena->base != NULL ? &t->worker[k] : NULL, k < t->workers, arena);
}

cnn_status exemplar_allocate(exemplar *t, size_t *bytes, cnn_error *err)
{
    cpu_arena arena = {NULL, 0, false};
    cut(t, &arena);
    if (arena.overflow)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "cpu:exemplar with %lld workers: its memory cannot be addressed",
                        (long long)t->workers);
    *bytes = (size_t)arena.used;
    t->memory = aligned_alloc(CNN_ALIGN, *bytes + CNN_ALIGN);
    if (t->memory == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for cpu:exemplar: %zu bytes with %lld workers", *bytes,
                        (long long)t->workers);
    memset(t->memory, 0, *bytes);
    arena = (cpu_arena){t->memory, 0, false};
    cut(t, &arena);
    return CNN_OK;
}
