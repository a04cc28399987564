/* trainer.c: the table of trainers of cuda_fused: opening, state in and out, passes. A version only plans and launches.
 */
#include "impl_cuda_fused/fused.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Arrays in device memory, in the order in which they stand in one allocation. */
enum {
    AT_W,
    AT_M,
    AT_V,
    AT_GRADS,
    AT_PARTS,
    AT_VALUES,
    AT_PICKED,
    AT_ARRIVED,
    AT_LOSSES,
    AT_HITS,
    AT_LAPS,
    AT_STAGES,
    ARRAYS
};

struct cnn_trainer {
    cuda_context *cuda;
    const fused_version *version;
    cnn_optimizer_desc optimizer;
    fused_net net;
    fused_plan plan;
    int64_t batch, step;
    double *loss_sum;
    int64_t *correct;
    char *memory;
    size_t at[ARRAYS];
    float *host; /* `slots` floats, on their way in or out */
    bool profiled;
    unsigned long long clocks[2 * FUSED_LAPS]; /* on their way out */
    cnn_trainer_lap laps[FUSED_LAPS_MOST];
};

static void *place(const cnn_trainer *t, int array) { return t->memory + t->at[array]; }

/* ---- What it takes */

static cnn_status plan_of(cnn_context *context, const cnn_trainer_request *r, fused_net *net, fused_plan *plan,
                          cnn_error *err)
{
    const cnn_type *t = &r->net->type;
    if (t->dtype != CNN_F32 || t->weights != CNN_F32 || t->math != CNN_MATH_F32)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "cuda_fused trains in f32; %s, weights in %s, math %s were asked for",
                        cnn_dtype_name(t->dtype), cnn_dtype_name(t->weights), cnn_math_name(t->math));
    if (r->optimizer->kind == CNN_NADAM) return CNN_FAIL(err, CNN_UNSUPPORTED, "cuda_fused has no optimizer nadam");
    const cnn_status status = fused_stages(r->net, net, err);
    *plan = (fused_plan){0};
    const fused_request request = {r->net->batch, r->profile, r->knobs};
    return status != CNN_OK
               ? status
               : fused_versions[r->algorithm->id]->plan(cuda_context_of(context), net, &request, plan, err);
}

static cnn_status fused_supports(cnn_context *context, const cnn_trainer_request *r, cnn_error *err)
{
    fused_net net;
    fused_plan plan;
    return plan_of(context, r, &net, &plan, err);
}

/* ---- Opening and closing */

static void fused_close(cnn_context *context, cnn_trainer *t)
{
    (void)context;
    if (t == NULL) return;
    if (t->version->close != NULL) t->version->close(&t->plan);
    (void)cudaFree(t->memory);
    free(t->host);
    free(t);
}

static bool size_of_arrays(const cnn_trainer *t, size_t bytes[ARRAYS])
{
    const fused_plan *p = &t->plan;
    const int64_t counts[ARRAYS] = {
        [AT_W] = p->slots,       [AT_M] = p->slots,       [AT_V] = p->slots,          [AT_GRADS] = p->slots,
        [AT_PARTS] = p->slots,   [AT_VALUES] = p->values, [AT_PICKED] = t->batch,     [AT_ARRIVED] = 1,
        [AT_LOSSES] = p->blocks, [AT_HITS] = p->blocks,   [AT_LAPS] = 2 * FUSED_LAPS, [AT_STAGES] = t->net.n_stages};
    for (int i = 0; i < ARRAYS; i++) {
        const int64_t size = i < AT_ARRIVED ? 4 : i == AT_STAGES ? (int64_t)sizeof(fused_stage) : 8;
        int64_t all;
        if (!cnn_mul4(counts[i], i == AT_PARTS ? p->parts : 1, size, 1, &all)) return false;
        bytes[i] = ((size_t)all + CNN_ALIGN - 1) / CNN_ALIGN * CNN_ALIGN;
    }
    return true;
}

static cnn_status allocate(cnn_trainer *t, size_t *total, cnn_error *err)
{
    size_t bytes[ARRAYS];
    *total = 0;
    if (!size_of_arrays(t, bytes)) return CNN_FAIL(err, CNN_OVERFLOW, "the memory of cuda_fused cannot be addressed");
    for (int i = 0; i < ARRAYS; i++) {
        t->at[i] = *total;
        *total += bytes[i];
    }
    t->host = calloc((size_t)t->plan.slots, sizeof *t->host);
    if (t->host == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the parameters on the host");
    if (cuda_enter(t->cuda, err) != CNN_OK) return err->status;
    CUDA_TRY(t->cuda, cudaMalloc((void **)&t->memory, *total), err);
    CUDA_TRY(t->cuda, cudaMemsetAsync(t->memory, 0, *total, t->cuda->stream), err);
    CUDA_TRY(t->cuda,
             cudaMemcpyAsync(place(t, AT_STAGES), t->net.stages, (size_t)t->net.n_stages * sizeof(fused_stage),
                             cudaMemcpyHostToDevice, t->cuda->stream),
             err);
    CUDA_TRY(t->cuda, cudaStreamSynchronize(t->cuda->stream), err);
    t->plan.stages = place(t, AT_STAGES);
    return CNN_OK;
}

static cnn_status fused_open(cnn_context *context, const cnn_trainer_request *r, cnn_trainer **out,
                             cnn_trainer_facts *facts, cnn_error *err)
{
    cnn_trainer *t = calloc(1, sizeof *t);
    if (t == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a trainer of cuda_fused");
    t->cuda = cuda_context_of(context);
    t->version = fused_versions[r->algorithm->id];
    t->optimizer = *r->optimizer;
    t->batch = r->net->batch;
    t->profiled = r->profile;
    t->loss_sum = r->loss_sum;
    t->correct = r->correct;
    cnn_status status = plan_of(context, r, &t->net, &t->plan, err);
    const fused_request request = {r->net->batch, r->profile, r->knobs};
    if (status == CNN_OK && t->version->open != NULL)
        status = t->version->open(t->cuda, &t->net, &request, &t->plan, err);
    if (status == CNN_OK) status = allocate(t, &facts->bytes, err);
    facts->steps = INT64_MAX;
    if (status == CNN_OK)
        *out = t;
    else
        fused_close(context, t);
    return status;
}

/* ---- State */

static cnn_status copy_in(cnn_trainer *t, int array, const void *from, cnn_error *err)
{
    const size_t bytes = (size_t)t->plan.slots * sizeof(float);
    fused_to_slots(&t->net, &t->plan, from, t->host);
    CUDA_TRY(t->cuda, cudaMemcpyAsync(place(t, array), t->host, bytes, cudaMemcpyHostToDevice, t->cuda->stream), err);
    CUDA_TRY(t->cuda, cudaStreamSynchronize(t->cuda->stream), err);
    return CNN_OK;
}

static cnn_status copy_out(cnn_trainer *t, int array, void *to, cnn_error *err)
{
    const size_t bytes = (size_t)t->plan.slots * sizeof(float);
    if (to == NULL) return CNN_OK;
    CUDA_TRY(t->cuda, cudaMemcpyAsync(t->host, place(t, array), bytes, cudaMemcpyDeviceToHost, t->cuda->stream), err);
    CUDA_TRY(t->cuda, cudaStreamSynchronize(t->cuda->stream), err);
    fused_from_slots(&t->net, &t->plan, t->host, to);
    return CNN_OK;
}

static cnn_status fused_load(cnn_context *context, cnn_trainer *t, const cnn_train_state *s, cnn_error *err)
{
    (void)context;
    cnn_status status = cuda_enter(t->cuda, err);
    if (status == CNN_OK) status = copy_in(t, AT_W, s->params, err);
    for (int i = 0; i < cnn_optimizer_states(t->optimizer.kind) && status == CNN_OK; i++)
        status = copy_in(t, i == 0 ? AT_M : AT_V, s->state[i], err);
    t->step = s->step;
    return status;
}

static cnn_status fused_save(cnn_context *context, cnn_trainer *t, cnn_train_state *s, cnn_error *err)
{
    (void)context;
    cnn_status status = cuda_enter(t->cuda, err);
    if (status == CNN_OK) status = copy_out(t, AT_W, s->params, err);
    for (int i = 0; i < cnn_optimizer_states(t->optimizer.kind) && status == CNN_OK; i++)
        status = copy_out(t, i == 0 ? AT_M : AT_V, s->state[i], err);
    if (status == CNN_OK) status = copy_out(t, AT_GRADS, s->grads, err);
    s->step = t->step;
    return status;
}

/* ---- Passes */

static const int optimizers[CNN_OPTIMIZER_COUNT] = {[CNN_SGD] = FUSED_SGD,
                                                    [CNN_MOMENTUM] = FUSED_MOMENTUM,
                                                    [CNN_ADAGRAD] = FUSED_ADAGRAD,
                                                    [CNN_RMSPROP] = FUSED_RMSPROP,
                                                    [CNN_ADAM] = FUSED_ADAM};

static fused_pass pass_of(const cnn_trainer *t, const cnn_images *images, int64_t first, int64_t count, int mode)
{
    const cnn_optimizer_desc *o = &t->optimizer;
    fused_pass p = {
        .rows = images->rows,
        .labels = images->labels,
        .order = images->order,
        .shifts = (const short *)images->shifts,
        .first = first,
        .count = count,
        .batch = t->batch,
        .mode = mode,
        .nhwc = t->net.nhwc,
        .quadratic = t->net.quadratic,
        .classes = t->net.classes,
        .image = (int)t->net.elems[0],
        .n_stages = t->net.n_stages,
        .slots = (int)t->plan.slots,
        .w = place(t, AT_W),
        .m = place(t, AT_M),
        .v = place(t, AT_V),
        .grads = place(t, AT_GRADS),
        .parts = place(t, AT_PARTS),
        .n_parts = (int)t->plan.parts,
        .trained = (int)t->plan.slots,
        .values = place(t, AT_VALUES),
        .picked = place(t, AT_PICKED),
        .arrived = place(t, AT_ARRIVED),
        .losses = place(t, AT_LOSSES),
        .hits = place(t, AT_HITS),
        .loss_sum = t->loss_sum,
        .correct = (long long *)t->correct,
        .step = t->step,
        .power1 = pow(o->beta1, (double)t->step),
        .power2 = pow(o->beta2, (double)t->step),
        .rule = {optimizers[o->kind], o->lr, o->beta1, o->beta2, o->eps, o->l1, o->l2, o->decay_steps},
    };
    for (int i = 0; i < t->net.n_stages; i++) p.seeds[i] = t->net.stages[i].seed;
    if (t->profiled && mode != FUSED_GRADIENTS)
        p.laps = (unsigned long long *)place(t, AT_LAPS) + (mode == FUSED_TEST ? FUSED_LAPS : 0);
    return p;
}

static cnn_status pass(cnn_trainer *t, const cnn_images *images, int64_t first, int64_t count, int mode, cnn_error *err)
{
    fused_pass p = pass_of(t, images, first, count, mode);
    if (cuda_enter(t->cuda, err) != CNN_OK) return err->status;
    CUDA_TRY(t->cuda, cudaMemsetAsync(p.arrived, 0, sizeof *p.arrived, t->cuda->stream), err);
    const cnn_status status = t->version->launch(t->cuda, &t->net, &t->plan, &p, err);
    if (status == CNN_OK && mode == FUSED_TRAIN) t->step += (count + t->batch - 1) / t->batch;
    return status;
}

static cnn_status fused_train(cnn_context *context, cnn_trainer *t, const cnn_images *images, int64_t first,
                              int64_t count, cnn_error *err)
{
    (void)context;
    return pass(t, images, first, count, FUSED_TRAIN, err);
}

static cnn_status fused_test(cnn_context *context, cnn_trainer *t, const cnn_images *images, int64_t first,
                             int64_t count, cnn_error *err)
{
    (void)context;
    return pass(t, images, first, count, FUSED_TEST, err);
}

static cnn_status fused_gradients(cnn_context *context, cnn_trainer *t, const cnn_images *images, int64_t first,
                                  int64_t count, cnn_error *err)
{
    (void)context;
    return pass(t, images, first, count, FUSED_GRADIENTS, err);
}

static cnn_status fused_profile(cnn_context *context, cnn_trainer *t, const cnn_trainer_lap **list, int *count,
                                cnn_error *err)
{
    (void)context;
    if (cuda_enter(t->cuda, err) != CNN_OK) return err->status;
    CUDA_TRY(t->cuda,
             cudaMemcpyAsync(t->clocks, place(t, AT_LAPS), sizeof t->clocks, cudaMemcpyDeviceToHost, t->cuda->stream),
             err);
    CUDA_TRY(t->cuda, cudaMemsetAsync(place(t, AT_LAPS), 0, sizeof t->clocks, t->cuda->stream), err);
    CUDA_TRY(t->cuda, cudaStreamSynchronize(t->cuda->stream), err);
    *count = fused_laps_read(&t->net, t->clocks, t->laps);
    *list = t->laps;
    return CNN_OK;
}

const cnn_trainers fused_cuda_trainers = {.supports = fused_supports,
                                          .open = fused_open,
                                          .close = fused_close,
                                          .load = fused_load,
                                          .save = fused_save,
                                          .train = fused_train,
                                          .test = fused_test,
                                          .gradients = fused_gradients,
                                          .profile = fused_profile};
