/* fuzz.h: random valid problems for any implementation, and what becomes of a failure.
 *
 * Case number i of a seed is drawn from (seed, i) alone: the same on every machine, in any order, by any number of
 * workers. FUZZ_BLOCK cases in a row share implementation, threads and knobs, so that a session serves them all.
 *
 *   fuzz_draw(&space, seed, index, 0, &c);
 *   fuzz_run(runner, &c, ~0u, &outcome, &err);
 *   fuzz_shrink(&space, &c, still_fails, user, &budget);  -> the smallest case found that fails in the same way
 */
#ifndef VERIFY_FUZZ_FUZZ_H
#define VERIFY_FUZZ_FUZZ_H

#include "harness/base/rng.h"
#include "harness/cnn/shape.h"
#include "verify/verify.h"

enum { FUZZ_BLOCK = 64, FUZZ_MAX_KNOBS = 64 };

/* The numbers of a descriptor that can be chosen freely, for all operations alike. What follows from them (ic = g *
 * icg, the right padding) is not among them, so that every choice from the least value up makes a consistent problem.
 */
typedef enum fuzz_field {
    FUZZ_MB,
    FUZZ_G,   /* conv: groups; concat: inputs */
    FUZZ_ICG, /* channels of a group; for others, all channels */
    FUZZ_OCG,
    FUZZ_IH, /* one axis: i, o, k, s, p, d in this order */
    FUZZ_OH,
    FUZZ_KH,
    FUZZ_SH,
    FUZZ_PH,
    FUZZ_DH,
    FUZZ_IW,
    FUZZ_OW,
    FUZZ_KW,
    FUZZ_SW,
    FUZZ_PW,
    FUZZ_DW,
    FUZZ_ID, /* of conv3d */
    FUZZ_OD,
    FUZZ_KD,
    FUZZ_SD,
    FUZZ_PD,
    FUZZ_DD,
    FUZZ_CAT, /* channels of the inputs of a concatenation */
    FUZZ_FIELDS = FUZZ_CAT + CNN_MAX_INPUTS
} fuzz_field;

typedef struct fuzz_shape {
    int64_t v[FUZZ_FIELDS];
} fuzz_shape;

typedef struct fuzz_case {
    uint64_t seed;
    int64_t index;
    int impl; /* of the space */
    int threads;
    int64_t knobs[FUZZ_MAX_KNOBS]; /* every row of the implementation's table */
    fuzz_shape shape;
    cnn_problem problem; /* made from `shape`; the rest of it (kind, type, reals) is drawn too */
    cnn_dir dir;
    char algorithm[CNN_NAME_MAX]; /* "": number `pick` of those that serve it */
    uint64_t pick, data_seed;
} fuzz_case;

typedef bool fuzz_chosen(void *user, const cnn_impl *impl, const cnn_algorithm *algorithm);

/* Fields that are not drawn: a mask of 1 << fuzz_field; of ICG and OCG the channels of all groups. */
typedef struct fuzz_pins {
    uint32_t set;
    int64_t v[FUZZ_CAT];
} fuzz_pins;
/* "kh3kw3g1", the letters of a descriptor. CNN_BAD_ARGUMENT, with what it may hold. */
cnn_status fuzz_pins_parse(const char *text, fuzz_pins *pins, cnn_error *err);

/* What is drawn from. What was fixed by hand stays fixed. */
typedef struct fuzz_space {
    const cnn_impl *impls[CNN_MAX_CHOICES];
    int n_impls;
    fuzz_chosen *chosen; /* (optional) which of their algorithms */
    void *user;
    uint32_t ops, dirs, dtypes, layouts, maths; /* masks; maths 0: strict, sometimes another */
    bool no_bias, flip;                         /* always so */
    const cnn_epilogue *epilogue;               /* (optional) always this one */
    int threads, device;                        /* threads 0: drawn */
    const char *const *settings;                /* knobs that are set */
    int n_settings;
    double flops; /* no case needs more; 0: the default */
    fuzz_pins pins;
} fuzz_space;

/* Draws until the problem is valid; of what fuzz_tells() refuses, few are kept. An implementation may refuse what was
 * drawn: another attempt, 1, 2 ..., draws the case anew, with the same implementation, threads and knobs. */
enum { FUZZ_ATTEMPTS = 300 };
void fuzz_draw(const fuzz_space *space, uint64_t seed, int64_t index, int attempt, fuzz_case *c);

/* tells.c: whether the results depend on the data at all, and as good as surely not on what happens to be dropped.
 */
bool fuzz_tells(const cnn_problem *problem, cnn_dir dir);

/* shape.c: a random shape for problem->op, and a problem of that shape. */
/* may_be_long: now and then more than 65,535 of something, whatever `flops` says; not with pins. */
void fuzz_draw_shape(cnn_rng *rng, const cnn_problem *problem, double flops, bool may_be_long, const fuzz_pins *pins,
                     fuzz_shape *shape);
/* A descriptor, read as one of an operation, type, bias and flip like this problem's. */
cnn_status fuzz_read(const cnn_problem *like, const char *text, cnn_problem *problem, cnn_error *err);
/* How its results are quantized; NULL of an operation that never does. */
static inline cnn_quantization *fuzz_quantization(cnn_problem *p)
{
    return cnn_is_conv(p) ? &p->u.conv.quant : p->op == CNN_OP_FC ? &p->u.fc.quant : NULL;
}
/* What is done to its sums; NULL of an operation of which nothing ever is. */
static inline cnn_epilogue *fuzz_epilogue(cnn_problem *p)
{
    const bool conv = p->op == CNN_OP_CONV || p->op == CNN_OP_CONV3D;
    return conv ? &p->u.conv.epilogue : p->op == CNN_OP_FC ? &p->u.fc.epilogue : NULL;
}
/* False, and the problem as it was: there is none of this shape. */
bool fuzz_build(const fuzz_shape *shape, cnn_problem *problem);
/* Whether the operation (and kind) has the field, and its least value. */
bool fuzz_has(const cnn_problem *problem, fuzz_field field, const fuzz_shape *shape);
int64_t fuzz_least(fuzz_field field);

/* ---- Running. */

typedef struct fuzz_outcome {
    verify_state state; /* of all checks together */
    uint32_t failed;    /* mask of the checks that FAILED; 0 with FAILED: none was reached */
    char algorithm[CNN_NAME_MAX];
    char check[24], reason[VERIFY_TEXT_MAX], worst[VERIFY_TEXT_MAX]; /* of the first in the gravest state */
} fuzz_outcome;

/* Keeps the engine of the last case's implementation, threads and knobs. */
typedef struct fuzz_runner fuzz_runner;
fuzz_runner *fuzz_runner_new(const fuzz_space *space, bool (*interrupted)(void)); /* NULL: out of memory */
void fuzz_runner_free(fuzz_runner *runner);
/* Runs the checks of the mask on the problem as its text reads back. CNN_INTERRUPTED is the only error: anything else
 * is an outcome. */
cnn_status fuzz_run(fuzz_runner *runner, const fuzz_case *c, uint32_t checks, fuzz_outcome *outcome, cnn_error *err);

/* ---- Shrinking. */

/* Whether the case still fails in the way that is looked for. */
typedef bool fuzz_fails(void *user, const fuzz_case *c);
typedef struct fuzz_budget {
    int tries, tried;   /* at most; so far */
    double until;       /* cnn_now() behind which no further try begins; 0: any */
    bool (*stop)(void); /* (optional) */
} fuzz_budget;
void fuzz_shrink(const fuzz_space *space, fuzz_case *c, fuzz_fails *fails, void *user, fuzz_budget *budget);

#endif
