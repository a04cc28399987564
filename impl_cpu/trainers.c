/* trainers.c: impl_cpu's trainers behind the one table that an implementation has: the algorithm's id picks at opening,
 * and what was opened says whose it is. */
#include "cpu.h"
#include "exemplar/exemplar.h"
#include "fused/fused.h"

static const cnn_trainers *table_of(const cnn_trainer_request *r)
{
    return r->algorithm->id == CPU_EXEMPLAR ? &exemplar_trainers : &fused_trainers;
}

static const cnn_trainers *of(const cnn_trainer *t) { return ((const cpu_trainer *)(const void *)t)->table; }

static cnn_status supports(cnn_context *c, const cnn_trainer_request *r, cnn_error *err)
{
    return table_of(r)->supports(c, r, err);
}

static cnn_status open_trainer(cnn_context *c, const cnn_trainer_request *r, cnn_trainer **t, cnn_trainer_facts *facts,
                               cnn_error *err)
{
    return table_of(r)->open(c, r, t, facts, err);
}

static void close_trainer(cnn_context *c, cnn_trainer *t) { of(t)->close(c, t); }

static cnn_status load(cnn_context *c, cnn_trainer *t, const cnn_train_state *s, cnn_error *err)
{
    return of(t)->load(c, t, s, err);
}

static cnn_status save(cnn_context *c, cnn_trainer *t, cnn_train_state *s, cnn_error *err)
{
    return of(t)->save(c, t, s, err);
}

static cnn_status train(cnn_context *c, cnn_trainer *t, const cnn_images *images, int64_t first, int64_t count,
                        cnn_error *err)
{
    return of(t)->train(c, t, images, first, count, err);
}

static cnn_status test(cnn_context *c, cnn_trainer *t, const cnn_images *images, int64_t first, int64_t count,
                       cnn_error *err)
{
    return of(t)->test(c, t, images, first, count, err);
}

static cnn_status gradients(cnn_context *c, cnn_trainer *t, const cnn_images *images, int64_t first, int64_t count,
                            cnn_error *err)
{
    return of(t)->gradients(c, t, images, first, count, err);
}

/* Asked of cpu:fused alone: the exemplars' row does not say CNN_ALGO_PROFILES. */
static cnn_status profile(cnn_context *c, cnn_trainer *t, const cnn_trainer_lap **list, int *count, cnn_error *err)
{
    return of(t)->profile(c, t, list, count, err);
}

const cnn_trainers cpu_trainers = {.supports = supports,
                                   .open = open_trainer,
                                   .close = close_trainer,
                                   .load = load,
                                   .save = save,
                                   .train = train,
                                   .test = test,
                                   .gradients = gradients,
                                   .profile = profile};
