/* stage.h: a network and a pass over its images, as the kernels see them. C11, C++17 and, without any other header,
 * NVRTC: all numbers are int, float, double and long long.
 *
 * A stage is an operation (a convolution, FC being one whose kernel is as large as its image; or pooling), then an
 * activation, then dropout. Stage s reads value s and writes value s + 1; value 0 is the image. */
#ifndef IMPL_CUDA_FUSED_STAGE_H
#define IMPL_CUDA_FUSED_STAGE_H

enum fused_op { FUSED_CONV, FUSED_MAX, FUSED_AVG, FUSED_AVG_PAD };
enum fused_act { FUSED_IDENTITY, FUSED_RELU, FUSED_LEAKY, FUSED_CLIPPED, FUSED_ELU, FUSED_SIGMOID, FUSED_TANH };
enum fused_optimizer { FUSED_SGD, FUSED_MOMENTUM, FUSED_ADAGRAD, FUSED_RMSPROP, FUSED_ADAM };
enum fused_mode { FUSED_TRAIN, FUSED_GRADIENTS, FUSED_TEST };
enum { FUSED_STAGES = 32 };

/* dh, dw: the spacing of the taps. w and b: the first slot of the weights and of the bias, -1 without. */
struct fused_stage {
    int op, ic, ih, iw, oc, oh, ow, kh, kw, sh, sw, ph, pw, dh, dw;
    int w, b;
    int act;
    float alpha;
    double rate; /* of dropout; 0: none */
    unsigned long long seed;
};

/* v2: how a value of one image lies in shared memory: element (c, h, w) at `at` + c*cs + h*hs + (w % sw)*ps + w / sw:
 * a row's columns stand by the stride with which the next stage reads them, so that its reads are of neighbours. The
 * gradient lies likewise, from `grad` on, which is `at` where it may take the value's place. */
struct fused_place {
    int at, grad, cs, hs, ps, sw;
};

/* v2: how a stage is cut into tasks. A task of the forward pass is a row of fc output channels, shared by fl lanes; of
 * the data gradient, a row of dc input channels, by dl lanes; of the weight gradient, row i of the kernels of wo x wc
 * channels, every wt-th tap of it, by wl lanes; fc is a multiple of wo. Weight (oc, ic, i, j) is slot w + ic*cs + i*is
 * + oc/fc*(kw*fc) + j*fc + oc%fc. */
struct fused_cut {
    int fc, fl, dc, dl, wo, wc, wt, wl;
    int w, b, cs, is;
    int rows; /* where sums of rows of the bias's gradient stand in shared memory */
};

/* v3: how a stage is cut into tasks, in a block of a cluster; channels are those of the block (cluster.h). fc to wl are
 * as in fused_cut, but that a kernel's taps are a multiple of wt. In shared memory weights stand twice: (oc, ic, i, j)
 * at w + ic*cs + i*is + oc/fc*(kw*fc) + j*fc + oc%fc, and where the data gradient needs them at wb + oc*fs + i*bs +
 * ic/dc*(kw*dc) + j*dc + ic%dc; wb -1: not. Gradients of weights stand in registers, where `grads` is -1, else in
 * shared memory, from there on, as the weights do. */
struct fused_tile {
    int fc, fl, dc, dl, wo, wc, wt, wl;
    int w, cs, is, b, wb, fs, bs;
    int grads, rows, box; /* rows: as in fused_cut; box: where partial sums arrive, [rank][own channel] */
    int slot, bslot;      /* of the block's slots, the first of the weights and of the bias */
    int piece;            /* stage 0: columns of a task of the way forward, instead of all; 0: all */
};

/* One step of the optimizer, in the terms of cnn_optimizer_desc. */
struct fused_rule {
    int kind;
    double lr, beta1, beta2, eps, l1, l2, decay_steps;
};

/* What a launch is told. Slots are the parameters in the order that a version likes, with gaps that stay zero. */
struct fused_pass {
    const float *rows;
    const int *labels, *order; /* order NULL: as they stand */
    const short *shifts;       /* dy, dx of each image; NULL: none is moved */
    long long first, count, batch;
    int mode, nhwc, quadratic, classes, image; /* image: elements of one */
    int n_stages, slots, trained;              /* trained: slots [0, trained) */
    float *w, *m, *v, *grads, *parts;          /* parts: of the gradients, [part][slot] */
    int n_parts;
    float *values;     /* v1: all values of a batch, then their gradients */
    int *picked;       /* v1: the labels of a batch */
    unsigned *arrived; /* barriers so far, times blocks: 0 at the start of each launch */
    double *losses;    /* [block] */
    long long *hits;   /* [block] */
    double *loss_sum;
    long long *correct;
    long long step;        /* updates before this launch */
    double power1, power2; /* beta1^step, beta2^step */
    struct fused_rule rule;
    unsigned long long seeds[FUSED_STAGES]; /* v2, v3: of the stages' dropout */
    float *images;                          /* v3: [rank][float]: the weights as a block of the rank has them */
    const int *params, *at, *back; /* v3: of [rank][slot] its parameter; of [slot] its places in an image or -1 */
    int alone;                     /* v3: a block keeps the weights of its rank by itself, in every cluster */
    unsigned long long *laps;      /* v3: FUSED_LAPS numbers, to which clocks are added; NULL: none */
};

/* Where the time of a pass goes, in clocks of block 0's first thread: its laps. Those of stage s are at
 * FUSED_LAP_STAGES + s * FUSED_LAPS_A_STAGE. The last number is of all of them, in nanoseconds. */
enum fused_lap {
    FUSED_LAP_IMAGES,
    FUSED_LAP_LOSS,
    FUSED_LAP_LEAVE,
    FUSED_LAP_WAIT,
    FUSED_LAP_UPDATE,
    FUSED_LAP_STAGES
};
enum fused_stage_lap {
    FUSED_LAP_FORWARD,
    FUSED_LAP_DATA,
    FUSED_LAP_WEIGHTS,
    FUSED_LAP_MEET,
    FUSED_LAP_MEET_BACK,
    FUSED_LAPS_A_STAGE
};
enum { FUSED_LAPS_NS = FUSED_LAP_STAGES + FUSED_LAPS_A_STAGE * FUSED_STAGES, FUSED_LAPS };

#endif
