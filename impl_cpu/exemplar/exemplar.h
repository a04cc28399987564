/* exemplar.h: cpu:exemplar, a trainer whose workers each train online, image by image, on a copy of the parameters of
 * their own (cnn/train.h, `workers`; Karv, 2018).
 *
 * A worker's share of a batch is a task: copy the parameters, then forward, backward and update for each image. Then
 * the parameters are cut into pieces, and each piece is merged. Nothing depends on which thread does a task: the bits
 * are the same for any number of threads, and other bits for another number of workers. */
#ifndef IMPL_CPU_EXEMPLAR_EXEMPLAR_H
#define IMPL_CPU_EXEMPLAR_EXEMPLAR_H

#include "impl_cpu/cpu.h"

/* One layer's fully connected kernels on one image. x, dy and dx are its vectors, w is [out][in]. */
typedef struct exemplar_fc {
    int64_t in, out;
    const void *x, *dy;
    void *y, *dx; /* dx NULL: nothing before the layer is trained */
    void *w, *b;  /* b NULL: no bias */
    void *dw, *db;
    double lr, l1, l2;
} exemplar_fc;

/* kernels.c. Forward: y. Train: dx from the weights as they are, then SGD's update of these. Gradient: dx, and dw and
 * db grow. */
void exemplar_fc_forward(const cpu_context *, cnn_dtype, exemplar_fc *);
void exemplar_fc_train(const cpu_context *, cnn_dtype, exemplar_fc *);
void exemplar_fc_gradient(const cpu_context *, cnn_dtype, exemplar_fc *);

/* w[i] += sum over k of share[k] * (copies[k][i] - w[i]), first <= i < last. */
typedef struct exemplar_merge {
    void *w;
    const void *const *copies;
    const double *shares;
    int64_t workers, first, last;
} exemplar_merge;
void exemplar_merge_run(const cpu_context *, cnn_dtype, exemplar_merge *);

/* What a worker has of its own: values and their gradients, and the parameters where it trains. */
typedef struct exemplar_worker {
    void *params;
    void **value, **grad; /* one a value of the network */
    int32_t label;
    double loss;
    int64_t correct;
    cpu_context serial; /* operations that it calls run in the caller */
    void *loss_room;
} exemplar_worker;

typedef struct exemplar {
    cpu_trainer head;
    const cpu_context *cpu;
    const cnn_net *net;
    cnn_optimizer_desc optimizer;
    int64_t workers, share; /* images of a full batch that a worker takes */
    int first;              /* the first layer with weights: no gradient is needed before it */
    int64_t step;
    double *loss_sum;
    int64_t *correct;
    exemplar_worker *worker; /* as many as workers, or threads if these are more: tests give each thread one */
    int64_t n_workers;
    void *params, *grads;
    const void **copies; /* of the workers that merge */
    double *shares;
    char *memory;
} exemplar;

/* image.c: one image through the network. Parameters are the worker's, or others'. */
void exemplar_take(const exemplar *, exemplar_worker *, const cnn_images *, int64_t at);
/* Adds to the worker's loss and correct; then, with dw NULL, nothing more, or the gradients times `scale` to dw. */
void exemplar_forward(const exemplar *, exemplar_worker *, void *params);
void exemplar_train(const exemplar *, exemplar_worker *, double lr);
void exemplar_gradients(const exemplar *, exemplar_worker *, double scale);

/* memory.c: the one allocation, cut: t's workers, parameters, gradients. */
cnn_status exemplar_allocate(exemplar *, size_t *bytes, cnn_error *err);

extern const cnn_trainers exemplar_trainers;

#endif
