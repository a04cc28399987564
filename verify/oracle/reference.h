/* reference.h: what every operation of cnn.h must compute, in float64 and written for clarity. It judges everyone else.
 *
 * Values are held as double arrays in canonical order (tensors n,c,h,w whatever the layout; the rest as it stands), so
 * no loop here knows a layout but dropout's, whose mask is defined by the position in memory.
 *
 * Beside its value, every output element gets the two ingredients of its own a-priori rounding bound
 *     |computed - exact| <= gamma(roundings) * magnitude,    gamma(n) = n*u / (1 - n*u),
 * magnitude being the sum of the absolute values of what was added up (sum |a*b| for a convolution), roundings the
 * longest chain of roundings that an element goes through in any order of evaluation (its real taps, fewer at a
 * border). An element without any rounding (a copy, a maximum, a count) has roundings 0, one that nothing contributes
 * to (a structural zero) also magnitude 0. */
#ifndef VERIFY_ORACLE_REFERENCE_H
#define VERIFY_ORACLE_REFERENCE_H

#include "harness/cnn.h"
#include "harness/cpu/threads.h"
#include "harness/problem/shape.h"

typedef struct vf_out {
    double *value, *magnitude, *roundings; /* the last two may both be NULL: values only */
    unsigned char *kind;                   /* of sums of products: what each is the sum of (lines.h); NULL: not known */
} vf_out;

enum { VF_LATE_B = 1, VF_LATE_Z = 2, VF_LATE_ACT = 4 };

/* One call: operands as cnn_operands() lists them. in[i] is what stands in operand i before the call (all but outputs
 * that are replaced), out[i] what must stand in it afterwards (all but inputs); in[i] and out[i].value never overlap.
 * An `out` with a NULL value is left out. */
typedef struct vf_call {
    const cnn_problem *problem;
    cnn_dir dir;
    cnn_operand operands[CNN_MAX_OPERANDS];
    int count;
    const double *in[CNN_MAX_OPERANDS];
    vf_out out[CNN_MAX_OPERANDS];
    double beta;   /* conv, fc: 0 or 1 */
    bool sums;     /* of a quantized result: y is to hold the sums that it is made of, without the epilogue */
    unsigned late; /* of an epilogue, as mistakes have it: VF_LATE_*, what is added behind the activation; VF_LATE_ACT:
                      of a quantized result, the activation behind zero_y */
    double scale;  /* loss backward */
    int64_t first; /* dropout: images that stand before these in memory */
    thread_pool *pool;
} vf_call;

/* CNN_UNSUPPORTED (no such direction), CNN_OVERFLOW. */
cnn_status vf_call_init(vf_call *call, const cnn_problem *problem, cnn_dir dir, thread_pool *pool, cnn_error *err);
void vf_reference(const vf_call *call);

/* Operands by name: their index (-1: none), values before, and results. */
int vf_index(const cnn_operand *operands, int count, const char *name);
const double *vf_in(const vf_call *call, const char *name); /* NULL: none */
vf_out vf_output(const vf_call *call, const char *name);    /* all NULL: none */

static inline long double vf_dot(const double *a, const double *b, int64_t count)
{
    long double sum = 0.0L;
    for (int64_t i = 0; i < count; i++) sum += (long double)a[i] * b[i];
    return sum;
}

/* Sets all three of an element; magnitude and roundings are dropped where they are not wanted. */
static inline void vf_put(const vf_out *out, int64_t i, double value, double magnitude, double roundings)
{
    if (out->value == NULL) return;
    out->value[i] = value;
    if (out->magnitude == NULL) return;
    out->magnitude[i] = magnitude;
    out->roundings[i] = roundings;
}

/* One number by an activation, and whether integers come through it unrounded. */
typedef struct vf_element_of {
    double value, magnitude, roundings;
} vf_element_of;
vf_element_of vf_act_element(const cnn_act_desc *d, double x);
bool vf_act_is_exact(const cnn_act_desc *d);
/* The slope where an activation came to y, which says it as well as x does: alpha is not negative. */
double vf_act_slope(const cnn_act_desc *d, double y);
/* Where an activation's slope jumps: how many places, two at most. */
int vf_act_kinks(const cnn_act_desc *d, double kinks[2]);
/* Clears `v` in all windows whose maximum changes hands within `width`: how many elements were not 0. */
int64_t vf_pool_mask(const cnn_problem *problem, const double *x, double width, double *v);
/* How near a value comes to a kink, or the runner-up of a window to its maximum. What lies on a kink does not count,
 * nor do equal maxima: those are zeros behind a ReLU or dropout, which rounding does not move. */
double vf_act_clearance(const cnn_act_desc *d, const double *x);
double vf_pool_clearance(const cnn_problem *problem, const double *x);
/* Brings what lies within `width` of a kink (a ReLU's 0, two equal maxima) to its other side. */
void vf_act_tilt(const cnn_act_desc *d, double *x, double width);
void vf_pool_tilt(const cnn_problem *problem, double *x, double width);

/* One file an operation. */
void vf_reference_conv(const vf_call *call);
void vf_reference_fc(const vf_call *call);
void vf_reference_pool(const vf_call *call);
void vf_reference_act(const vf_call *call);
void vf_reference_loss(const vf_call *call);
void vf_reference_dropout(const vf_call *call);
void vf_reference_add(const vf_call *call);
void vf_reference_concat(const vf_call *call);
void vf_reference_batchnorm(const vf_call *call);
void vf_reference_optimizer(const vf_call *call);
void vf_reference_deconv(const vf_call *call);
static inline void vf_reference_conv3d(const vf_call *call) { vf_reference_conv(call); }
static inline void vf_reference_pool3d(const vf_call *call) { vf_reference_pool(call); }

/* reference_sums.c: sums of products, the inner loop of the reference convolution.
 *
 * A block of the result is LANES neighbours of up to ROWS rows: few enough that their sums stay in registers while the
 * terms go by. Every element is summed in the order of the terms, one addition at a time, without contraction: the same
 * bits on every instruction set. */
enum { VF_LANES = 8 };

/* Compiles on any target: to one register, or to several narrower ones. */
typedef double vf_lanes __attribute__((vector_size(VF_LANES * sizeof(double)), may_alias));

/* value[r*step + l] += sum_t a[r*a_step + at[t]] * b[t][l] for r < rows, l < lanes, t < depth; magnitude likewise, with
 * the absolute values of the products (NULL: not wanted). */
typedef struct vf_sums {
    const double *a;
    const int64_t *at;
    const vf_lanes *b;
    double *value, *magnitude;
    int64_t a_step, step, rows, lanes, depth;
} vf_sums;

void vf_add_sums(const vf_sums *s);

#endif
