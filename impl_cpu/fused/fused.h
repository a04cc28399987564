/* fused.h: the trainer cpu:fused: chains of convolution, activation, pooling, dropout and FC in f32, with a loss at the
 * end.
 *
 * Lanes are channels (kernels.h), and images are what threads share out. A worker takes a few images, a chunk, through
 * the whole network and back while their values stay in its own caches; weights stand in the order of the kernels.
 * A step has two hand-overs: when the gradients of all images are there, and when all parameters are updated; over
 * ranks two more, before and after the sum over all of them. A gradient overwrites the value that it belongs to, where
 * nobody needs that any more. FC is a convolution whose kernel is as large as the image.
 *
 *   trainer.c      the table: supports, open, load, save, the passes
 *   layers.c       what follows from the network: which activation is done in a neighbour, the images' order
 *   conv.c         what follows from a convolution: its geometry, the order of its weights
 *   order.c        numbers in another order
 *   classes.c      which pixels have the same taps; lines.c: those of lines; outer.c: which meet in the weight gradient
 *   sums.c         which worker takes which images, and in what order gradients are added: the same for any threads
 *   step.c         a worker's part of a call: steps, hand-overs, update; adam.c: the update by kernels of its own
 *   late.c         weight gradients of the whole batch at once, where weights outweigh values
 *   images.c       images on their way from the data set; drop.c: dropout
 *   chunk.c        a chunk of images: forward, loss, backward
 *   memory.c       all of it; laps.c: where the time goes
 *   kernels.h      the kernels, compiled for each instruction set: isa.inc */
#ifndef IMPL_CPU_FUSED_FUSED_H
#define IMPL_CPU_FUSED_FUSED_H

#include "harness/base/clock.h"
#include "kernels.h"

#include <stdatomic.h>

/* conv.c: a layer with weights. */
typedef struct fused_conv {
    cnn_conv_desc plain; /* as the network has it, FC as a convolution */
    /* What is computed: plain, or, of images with few channels, a kernel of one column whose channels are the columns
     * of `plain`: an image is then gathered as [row][output column][kernel column][channel]. */
    cnn_conv_desc c;
    bool widened, each; /* each: as many groups as channels in and out */
    bool flat;          /* a kernel as large as the image: c has one tap, of tap_terms for each of the kernel */
    int64_t tap_terms;
    fused_matrix back;            /* of the turned weights; forward.m is that of the weights */
    int64_t w, b;                 /* where they stand among the network's parameters; b -1: none */
    int64_t packed_w, packed_b;   /* and among the packed ones */
    int64_t elems, placed;        /* packed weights; the same, rounded up */
    int64_t turned, turned_elems; /* weights with terms and columns exchanged: the worker's, or, late, the trainer's */
    fused_gather forward, backward;
    fused_outer outer;
    fused_order turn; /* of a tap, from packed weights to turned ones */
    int64_t at_once;  /* images whose weight gradient is computed tap by tap: as their x and dy fit into a cache */
} fused_conv;

/* classes.c: rows (or columns) of a result, in classes: those of a class meet the source with the same taps. */
typedef struct fused_axis {
    int64_t size, taps, source;         /* positions, taps, positions of the source */
    int64_t of_at, of_tap, first, by;   /* tap t of position p meets (p*of_at + t*of_tap + first) / by */
    int64_t n_classes, *class_of, *one; /* of each position; and the first position of each class */
} fused_axis;
/* The lists of taps and rows of g; axes are freed by the caller. */
cnn_status fused_gather_make(fused_gather *g, fused_axis *y, fused_axis *x, int64_t in_w, int64_t in_c, int64_t out_c,
                             cnn_error *err);
void fused_axis_free(fused_axis *axis);
/* Where tap `tap` of position `at` meets the source; -1: nowhere. */
int64_t fused_source_of(const fused_axis *axis, int64_t at, int64_t tap);
/* lines.c: g's lines, if it has any. */
cnn_status fused_lines_make(fused_gather *g, const fused_axis *y, const fused_axis *x, int64_t in_w, int64_t in_c,
                            int64_t out_c, int lanes, cnn_error *err);
/* outer.c */
cnn_status fused_outer_make(fused_conv *conv, cnn_error *err);
cnn_status fused_strips_make(fused_conv *conv, int lanes, cnn_error *err);

cnn_status fused_order_make(fused_order *order, int64_t count, int lanes, cnn_error *err); /* all -1 */
/* Index is filled in: finds `base`. So many numbers can be read, from the first on. */
void fused_order_done(fused_order *order, int64_t readable);
void fused_order_free(fused_order *order);
cnn_status fused_turn_make(fused_conv *conv, int lanes, cnn_error *err); /* conv->turn */
cnn_status fused_conv_make(fused_conv *conv, const cnn_conv_desc *plain, bool widened, const fused_kernels *kern,
                           cnn_error *err);
void fused_conv_free(fused_conv *conv);
/* Weights between the network's order and the packed one, which must be zero before: packed[p] = or plain[i] =. */
void fused_conv_pack(const fused_conv *conv, int lanes, float *plain, float *packed, bool back);

/* layers.c */
typedef struct fused_layer {
    cnn_op op; /* CONV: of FC, too */
    int in, out;
    const cnn_problem *problem;
    /* ACT in place: done in the forward pass of the layer before, and its slope in the data gradient of the one behind.
     */
    bool inside, slope_inside;
    bool late; /* late.c */
    fused_conv conv;
    const cnn_act_desc *f, *slope; /* CONV: what it does of those; NULL: nothing */
} fused_layer;

/* sums.c: images [first, first of the next leaf) of a batch are a leaf, whose gradients are added up one after the
 * other. Leaves of a block are added in order, blocks in pairs, pairs of pairs, ...: batch size and network decide it
 * all. `add`: onto the leaves before it, that this worker had, too; else it has a slot of its own. */
typedef struct fused_leaf {
    int64_t first, slot;
    int worker;
    bool add;
} fused_leaf;
typedef struct fused_plan {
    int64_t leaves, blocks, slots;
    fused_leaf *leaf; /* leaves + 1 */
} fused_plan;

/* PIECE: of numbers that are late, and CUT: where workers' shares of them may begin. Both are squares of weights by two
 * vectors of columns, of any instruction set, and a piece of AVX-512 is blocks of twelve terms. */
enum { FUSED_SUM_DEPTH = 5, FUSED_UNIT = 2048, FUSED_PIECE = 1536, FUSED_CUT = 512, FUSED_LINE = 64 };

typedef struct fused_flag {
    _Alignas(FUSED_LINE) atomic_uint generation;
} fused_flag;

typedef struct fused_part {
    double loss;
    int64_t correct;
} fused_part;

/* Whose masks dropout draws: of which step, and which image of all ranks' batch the chunk's first one is. */
typedef struct fused_draw {
    bool inference;
    int64_t step, image;
} fused_draw;

typedef struct fused_worker {
    cpu_context serial;    /* without a pool, for the operations of cpu.h */
    float **value, **grad; /* one a value of the network, of a chunk; grad may be the value */
    float *picture, *turned, *scratch, *logits, *dlogits, *sums;
    int32_t *labels;
    const cnn_images *images; /* [next, next_end) of them are to be fetched */
    int64_t next, next_end;
    void *loss_parts;
    fused_draw draw;
    bool by_adam; /* the kernels' own, whose numbers of the step these are */
    fused_adam adam;
    double *laps, latest; /* of the last worker, with a profile: seconds by lap, of the pass; else NULL */
} fused_worker;

/* laps.c: where a worker's time goes. Lap FUSED_LAP_LAYERS + 3 * layer + direction is a layer's. */
enum { FUSED_LAP_IMAGES, FUSED_LAP_TURN, FUSED_LAP_MERGE, FUSED_LAP_WAIT, FUSED_LAP_UPDATE, FUSED_LAP_LAYERS };
int fused_laps_of(const cnn_net *net); /* how many there are */
/* Before the first part of a call; and behind each part. */
void fused_laps_begin(const cnn_trainer *t, int worker, bool test);
static inline void fused_lap(fused_worker *w, int lap)
{
    if (w->laps == NULL) return;
    const double now = cnn_now();
    w->laps[lap] += now - w->latest;
    w->latest = now;
}
static inline void fused_lap_of(fused_worker *w, int layer, cnn_dir dir)
{
    fused_lap(w, FUSED_LAP_LAYERS + CNN_DIR_COUNT * layer + (int)dir);
}
int fused_profile_read(cnn_trainer *t); /* into t->lap_list; and clears them. How many there are */

struct cnn_trainer {
    cpu_trainer head;
    const cpu_context *cpu;
    const cnn_net *net;
    const fused_kernels *kern;
    cnn_optimizer_desc optimizer;
    double *loss_sum;
    int64_t *correct;
    fused_layer *layers;
    int first;                    /* the first layer with weights: no gradient is needed before it */
    fused_order spread;           /* from a row of the data set to value 0 of an image */
    int64_t spread_elems, *elems; /* of an image: value 0, and each value */
    bool *shares;                 /* a value whose gradient takes its place */
    int64_t packed_elems;         /* parameters in the order of the kernels */
    int64_t early_elems;          /* those of them that leaves have gradients of; weights that are late come behind */
    bool masked; /* numbers without a parameter may get a gradient: `mask`, all ones where there is one */
    int64_t turned_elems, late_turned_elems; /* of all layers */
    int64_t chunk;                           /* images, at most */
    fused_plan plan;
    int workers_n, spins; /* how long a worker waits for the others before it offers its core */
    fused_worker *workers;
    fused_flag *flags;
    void *memory;
    float *params, *grads, *state[2], *slots;
    float **kept_value, **kept_grad, *turned; /* of layers that are late: of a batch */
    uint32_t *mask;
    fused_part *parts; /* of each leaf, or each chunk of a test */
    int64_t step;
    int64_t ranks, rank; /* as in cnn_trainer_request */
    cnn_status (*sum)(void *user, void *numbers, int64_t count, cnn_dtype, cnn_error *);
    void *sum_user;
    bool profiled;
    double *laps; /* [test][lap], of the last worker */
    cnn_trainer_lap *lap_list;
};

enum { FUSED_TEST_PARTS = 1024 };

cnn_status fused_layers_make(cnn_trainer *t, cnn_error *err);
void fused_layers_free(cnn_trainer *t);

cnn_status fused_allocate(cnn_trainer *t, size_t *bytes, cnn_error *err); /* memory.c */
cnn_status fused_plan_make(cnn_trainer *t, cnn_error *err);
/* Adds up what worker `id` has of a batch of mb images, as far as the order of all sums lets it. */
void fused_merge(const cnn_trainer *t, int id, int64_t mb);
/* Numbers [at, at + n) of the whole gradient; `sums` is scratch. */
const float *fused_gradient(const cnn_trainer *t, int64_t at, int64_t n, int64_t mb, float *sums);

/* A call of the trainer: images [first, first + count) of a pass. */
typedef struct fused_call {
    cnn_trainer *t;
    const cnn_images *images;
    int64_t first, count;
    bool update;
    cnn_status status; /* of the sums over ranks */
    cnn_error *err;
} fused_call;
void fused_steps(void *call, int64_t id, int worker); /* step.c: worker `id`'s part of training */
void fused_test_share(void *call, int64_t id, int worker);

/* late.c: whether a layer's weight gradient is computed when all workers have met. */
bool fused_is_late(const cnn_trainer *t, const fused_layer *layer);
/* Images [a, b) of the worker's chunk, which are the leaf's: what goes into the layer, and its gradient, is kept. */
void fused_late_keep(const cnn_trainer *t, const fused_worker *w, const fused_layer *layer, const fused_leaf *leaf,
                     int64_t a, int64_t b);
/* Terms [term, term + terms) of one or two vectors of columns: n of the packed numbers, not all of which are weights.
 */
typedef struct fused_piece {
    int layer, vectors;
    int64_t vector, term, terms, n;
} fused_piece;
/* The piece at number `at`, which is a whole number of cuts behind early_elems; no further than `end`. */
fused_piece fused_piece_at(const cnn_trainer *t, int64_t at, int64_t end);
/* Its gradient, of a batch of mb images, in sums. */
const float *fused_late_gradient(const cnn_trainer *t, const fused_piece *p, int64_t mb, float *sums);
void fused_late_turn(const cnn_trainer *t, const fused_piece *p, int64_t at);
void fused_late_turn_all(const cnn_trainer *t);

void fused_adam_begin(const cnn_trainer *t, fused_worker *w, int64_t step); /* adam.c: w's numbers of the step */

/* images.c: images [first, first + n) of a pass become the worker's value 0, and their labels; its next ones are at
 * `next`. Their order is drawn, so they are far from each other in memory: one of the next n comes into its
 * second-level cache by each call of fetch(), one behind each layer, for many at once would wait for each other. */
void fused_images_take(const cnn_trainer *t, fused_worker *w, const cnn_images *images, int64_t first, int64_t n,
                       int64_t next);
void fused_image_fetch(const cnn_trainer *t, fused_worker *w);

/* drop.c: a layer of dropout, of n images. */
void fused_drop_run(const cnn_trainer *t, const fused_worker *w, const fused_layer *layer, cnn_dir dir, int64_t n);

/* chunk.c: images [first, first + n) of a pass forward, the worker's next ones being at `next`; then the loss of images
 * [a, b) of the chunk, and their gradients at the logits, scaled; then back through the network: weight gradients of
 * each leaf of [leaf, leaf_end). */
void fused_forward(const cnn_trainer *t, fused_worker *w, const cnn_images *images, int64_t first, int64_t n,
                   int64_t next);
fused_part fused_loss(const cnn_trainer *t, fused_worker *w, int64_t a, int64_t b, double scale, bool gradient);
void fused_turn(const cnn_trainer *t, fused_worker *w); /* comes before the first `backward` of a step */
void fused_backward(const cnn_trainer *t, fused_worker *w, int64_t leaf, int64_t leaf_end, int64_t mb);

extern const cnn_trainers fused_trainers; /* trainer.c */

#endif
