/* shape.c: random shapes. Small, because 100,000 small ones find more than a hundred large ones; but around every
 * size at which kernels change their way: vector and tile widths, one row, one column, strides above the kernel,
 * kernels above the input, windows wholly in the padding, and now and then more than 65,535 of something. */
#include "fuzz.h"

#include "harness/base/text.h"
#include "harness/problem/problem.h"
#include "harness/problem/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { I, O, K, S, P, D, AXIS }; /* within an axis */

static const uint32_t axes = ((1u << AXIS) - 1) << FUZZ_IH | ((1u << AXIS) - 1) << FUZZ_IW, depth = ((1u << AXIS) - 1)
                                                                                                    << FUZZ_ID;

/* The fields that an operation's descriptor is made of. */
static uint32_t fields_of(const cnn_problem *p, const fuzz_shape *shape)
{
    const uint32_t mb = 1u << FUZZ_MB, ic = 1u << FUZZ_ICG, oc = 1u << FUZZ_OCG, g = 1u << FUZZ_G;
    const uint32_t plane = 1u << FUZZ_IH | 1u << FUZZ_IW;
    switch (p->op) {
    case CNN_OP_CONV:
    case CNN_OP_DECONV:
        return mb | g | ic | oc | axes;
    case CNN_OP_CONV3D:
        return mb | g | ic | oc | axes | depth;
    case CNN_OP_FC:
        return mb | ic | oc | plane;
    case CNN_OP_POOL:
        return mb | ic | (p->u.pool.kind == CNN_POOL_GLOBAL_AVG ? plane : axes);
    case CNN_OP_POOL3D:
        return mb | ic | (p->u.pool.kind == CNN_POOL_GLOBAL_AVG ? plane | 1u << FUZZ_ID : axes | depth);
    case CNN_OP_LOSS:
        return mb | ic;
    case CNN_OP_CONCAT:
        return mb | g | plane | ((1u << shape->v[FUZZ_G]) - 1) << FUZZ_CAT;
    case CNN_OP_OPTIMIZER:
        return ic;
    default:
        return mb | ic | plane;
    }
}

bool fuzz_has(const cnn_problem *problem, fuzz_field field, const fuzz_shape *shape)
{
    return fields_of(problem, shape) >> field & 1u;
}

int64_t fuzz_least(fuzz_field field)
{
    const uint32_t paddings = 1u << FUZZ_PH | 1u << FUZZ_PW | 1u << FUZZ_PD;
    const uint32_t dilations = 1u << FUZZ_DH | 1u << FUZZ_DW | 1u << FUZZ_DD;
    return (paddings | dilations) >> field & 1u ? 0 : 1;
}

/* ---- A problem of a shape: written as a descriptor, and read. */

/* What stands before the sizes: the kind with its options, or the channels of each input. */
static void put_kind(const fuzz_shape *shape, const cnn_problem *p, char text[CNN_PROBLEM_TEXT_MAX])
{
    cnn_problem_format(p, text);
    char *colon = strchr(text, ':');
    text[colon != NULL ? colon + 1 - text : 0] = '\0';
    if (p->op != CNN_OP_CONCAT) return;
    text[0] = '\0';
    for (int i = 0; i < shape->v[FUZZ_G]; i++)
        cnn_append(text, CNN_PROBLEM_TEXT_MAX, "%s%lld", i > 0 ? "+" : "", (long long)shape->v[FUZZ_CAT + i]);
    cnn_append(text, CNN_PROBLEM_TEXT_MAX, ":");
}

cnn_status fuzz_read(const cnn_problem *like, const char *text, cnn_problem *problem, cnn_error *err)
{
    const bool conv = cnn_is_conv(like), fc = like->op == CNN_OP_FC;
    const cnn_problem_defaults defaults = {.type = like->u.type,
                                           .no_bias = (conv && !like->u.conv.bias) || (fc && !like->u.fc.bias),
                                           .flip = conv && like->u.conv.flip};
    return cnn_problem_parse(like->op, text, &defaults, problem, err);
}

static const char *const letters[FUZZ_CAT] = {"mb", "g",  "ic", "oc", "ih", "oh", "kh", "sh", "ph", "dh", "iw",
                                              "ow", "kw", "sw", "pw", "dw", "id", "od", "kd", "sd", "pd", "dd"};

/* A transposed convolution has the shape of the convolution that it is the other way round. */
static fuzz_field turned(const cnn_problem *p, fuzz_field f)
{
    static const fuzz_field pairs[][2] = {{FUZZ_ICG, FUZZ_OCG}, {FUZZ_IH, FUZZ_OH}, {FUZZ_IW, FUZZ_OW}};
    for (int i = 0; p->op == CNN_OP_DECONV && i < 3; i++)
        if (f == pairs[i][0] || f == pairs[i][1]) return pairs[i][f == pairs[i][0]];
    return f;
}

bool fuzz_build(const fuzz_shape *shape, cnn_problem *p)
{
    const uint32_t fields = fields_of(p, shape) & ~(p->op == CNN_OP_CONCAT ? 1u << FUZZ_G : 0u);
    char text[CNN_PROBLEM_TEXT_MAX];
    cnn_problem made;
    cnn_error err;
    put_kind(shape, p, text);
    for (int f = 0; f < FUZZ_CAT; f++) {
        const int64_t groups = cnn_is_conv(p) && (f == FUZZ_ICG || f == FUZZ_OCG) ? shape->v[FUZZ_G] : 1;
        if (fields >> f & 1u)
            cnn_append(text, sizeof text, "%s%lld", letters[turned(p, (fuzz_field)f)],
                       (long long)(groups * shape->v[f]));
    }
    if (fuzz_read(p, text, &made, &err) != CNN_OK) return false;
    if (fuzz_epilogue(p) != NULL) *fuzz_epilogue(&made) = *fuzz_epilogue(p);
    if (fuzz_quantization(p) != NULL) *fuzz_quantization(&made) = *fuzz_quantization(p);
    *p = made;
    return true;
}

/* ---- Drawing. */

static bool chance(cnn_rng *rng, int one_in) { return rng_int(rng, 1, one_in) == 1; }

static int64_t near_width(cnn_rng *rng) /* a vector's or a tile's width, one less, one more */
{
    static const int64_t widths[] = {4, 8, 16, 32, 64};
    return widths[rng_int(rng, 0, 4)] + rng_int(rng, -1, 1);
}

static int64_t draw_channels(cnn_rng *rng) { return chance(rng, 3) ? near_width(rng) : rng_int(rng, 1, 12); }

static int64_t draw_batch(cnn_rng *rng) { return chance(rng, 6) ? near_width(rng) : rng_int(rng, 1, 4); }

static int64_t draw_size(cnn_rng *rng)
{
    return chance(rng, 6) ? near_width(rng) : chance(rng, 12) ? rng_int(rng, 1, 70) : rng_int(rng, 1, 14);
}

static int64_t draw_kernel(cnn_rng *rng)
{
    static const int64_t usual[] = {1, 1, 2, 3, 3, 3, 4, 5, 7};
    return chance(rng, 8) ? rng_int(rng, 1, 13) : usual[rng_int(rng, 0, 8)];
}

/* One axis: the output that the padding gives, or a little less (the last rows are not read) or more. */
static void draw_axis(cnn_rng *rng, int64_t a[AXIS])
{
    a[I] = draw_size(rng);
    a[K] = draw_kernel(rng);
    a[S] = chance(rng, 2) ? 1 : chance(rng, 8) ? rng_int(rng, 1, 9) : rng_int(rng, 1, 3);
    a[D] = chance(rng, 4) ? rng_int(rng, 1, 4) : 0;
    const int64_t extent = cnn_extent(a[K], a[D]);
    a[P] = chance(rng, 3) ? 0 : chance(rng, 2) ? (extent - 1) / 2 : rng_int(rng, 0, extent + 1);
    if (a[I] + 2 * a[P] < extent) a[P] = (extent - a[I] + 1) / 2;
    a[O] = cnn_out_size(a[I], a[K], a[S], a[P], a[P], a[D]);
    if (chance(rng, 8)) a[O] = rng_int(rng, 1, a[O]);
    if (chance(rng, 10)) a[O] += rng_int(rng, 1, 2);
}

static void trivial_axis(int64_t a[AXIS]) { a[I] = a[O] = a[K] = a[S] = 1, a[P] = a[D] = 0; }

static void draw_small(cnn_rng *rng, fuzz_shape *shape)
{
    int64_t *v = shape->v;
    v[FUZZ_MB] = draw_batch(rng);
    v[FUZZ_G] = chance(rng, 4) ? chance(rng, 2) ? near_width(rng) : rng_int(rng, 2, 5) : 1;
    v[FUZZ_ICG] = v[FUZZ_G] > 1 && chance(rng, 3) ? 1 : draw_channels(rng); /* 1: depthwise */
    v[FUZZ_OCG] = v[FUZZ_G] > 1 && chance(rng, 2) ? rng_int(rng, 1, 3) : draw_channels(rng);
    draw_axis(rng, v + FUZZ_IH);
    if (chance(rng, 3))
        memcpy(v + FUZZ_IW, v + FUZZ_IH, AXIS * sizeof *v); /* square */
    else
        draw_axis(rng, v + FUZZ_IW);
    if (chance(rng, 12)) trivial_axis(v + (chance(rng, 2) ? FUZZ_IH : FUZZ_IW)); /* one row, one column */
    for (int i = 0; i < CNN_MAX_INPUTS; i++) v[FUZZ_CAT + i] = draw_channels(rng);
    trivial_axis(v + FUZZ_ID);
}

/* More than 65,535 of one thing and next to nothing of the others: grids and 16-bit counters end there. */
static void draw_long(cnn_rng *rng, const cnn_problem *p, fuzz_shape *shape, int64_t least)
{
    static const fuzz_field fields[] = {FUZZ_MB, FUZZ_G, FUZZ_ICG, FUZZ_OCG, FUZZ_IH, FUZZ_IW, FUZZ_KH, FUZZ_KW};
    const int64_t size = least + rng_int(rng, 0, 6);
    int64_t *v = shape->v;
    fuzz_field field;
    for (int i = 0; i < FUZZ_FIELDS; i++) v[i] = fuzz_least((fuzz_field)i);
    for (int i = FUZZ_MB; i <= FUZZ_OCG; i++) v[i] = rng_int(rng, 1, 2);
    do field = fields[rng_int(rng, 0, 7)];
    while (!fuzz_has(p, field, shape) || (p->op == CNN_OP_CONCAT && field == FUZZ_G));
    if (field == FUZZ_G) v[FUZZ_ICG] = v[FUZZ_OCG] = v[FUZZ_MB] = 1;
    v[field] = size;
    for (int at = FUZZ_IH; at <= FUZZ_ID; at += AXIS) {
        int64_t *a = v + at;
        const bool kernel = a[K] > 1; /* as long as the input */
        if (kernel) a[I] = a[K] + rng_int(rng, 0, 1);
        if (!kernel && a[I] > 1) a[K] = rng_int(rng, 1, 3), a[P] = rng_int(rng, 0, 1);
        a[O] = cnn_out_size(a[I], a[K], a[S], a[P], a[P], a[D]);
    }
}

/* What decides the time of a case: the work of the operation or, for pointwise ones, its elements. */
static double work(const cnn_problem *p)
{
    cnn_operand list[CNN_MAX_OPERANDS];
    cnn_error err;
    const int count = cnn_operands(p, CNN_FWD, list, &err);
    double elements = 0.0;
    for (int i = 0; i < count; i++) elements += (double)list[i].count;
    return fmax(cnn_flops(p, CNN_FWD), 4.0 * elements);
}

/* The largest of the fields in the mask that are above 1; FUZZ_FIELDS: none. */
static fuzz_field largest(const cnn_problem *p, const fuzz_shape *shape, uint32_t mask)
{
    fuzz_field most = FUZZ_FIELDS;
    for (int f = 0; f < FUZZ_FIELDS; f++)
        if (mask >> f & 1u && fuzz_has(p, (fuzz_field)f, shape) && shape->v[f] > 1 &&
            (most == FUZZ_FIELDS || shape->v[f] > shape->v[most]))
            most = (fuzz_field)f;
    return most;
}

/* Halves what is largest until the case is small enough; the channels last, if they are to stay as drawn; what is in
 * `kept` not at all. */
static void cut(const cnn_problem *problem, double flops, bool keep_channels, uint32_t kept, fuzz_shape *shape)
{
    const uint32_t channels = ~kept & (1u << FUZZ_ICG | 1u << FUZZ_OCG | ((1u << CNN_MAX_INPUTS) - 1) << FUZZ_CAT |
                                       (cnn_is_conv(problem) ? 1u << FUZZ_G : 0));
    const uint32_t others = ~kept & (1u << FUZZ_MB | 1u << FUZZ_IH | 1u << FUZZ_IW | 1u << FUZZ_ID | 1u << FUZZ_OH |
                                     1u << FUZZ_OW | 1u << FUZZ_OD);
    cnn_problem p = *problem;
    while (fuzz_build(shape, &p) && work(&p) > flops) {
        fuzz_field most = largest(&p, shape, keep_channels ? others : others | channels);
        if (most == FUZZ_FIELDS) most = largest(&p, shape, channels);
        if (most == FUZZ_FIELDS) return;
        shape->v[most] /= 2;
    }
}

/* ---- Pins. */

/* The output follows from what is pinned, unless it is, too. */
static void pin_axis(const fuzz_pins *pins, int at, int64_t a[AXIS])
{
    if (!(pins->set >> at & ((1u << AXIS) - 1))) return;
    for (int i = 0; i < AXIS; i++)
        if (pins->set >> (at + i) & 1u) a[i] = pins->v[at + i];
    const int64_t extent = cnn_extent(a[K], a[D]);
    if (a[I] + 2 * a[P] < extent && !(pins->set >> (at + I) & 1u)) a[I] = extent - 2 * a[P];
    if (a[I] + 2 * a[P] < extent && !(pins->set >> (at + P) & 1u)) a[P] = (extent - a[I] + 1) / 2;
    if (!(pins->set >> (at + O) & 1u)) a[O] = cnn_out_size(a[I], a[K], a[S], a[P], a[P], a[D]);
}

static void pin(const fuzz_pins *given, const cnn_problem *problem, fuzz_shape *shape)
{
    int64_t *v = shape->v;
    fuzz_pins own = {.set = 0}, *pins = &own;
    for (int f = 0; f < FUZZ_CAT; f++) {
        const fuzz_field at = turned(problem, (fuzz_field)f);
        own.set |= (given->set >> f & 1u) << at;
        own.v[at] = given->v[f];
    }
    for (int f = FUZZ_MB; f <= FUZZ_OCG; f++)
        if (pins->set >> f & 1u) v[f] = pins->v[f];
    for (int f = FUZZ_ICG; f <= FUZZ_OCG; f++) {
        if (!(pins->set >> f & 1u)) continue;
        if (v[f] % v[FUZZ_G] != 0 && !(pins->set >> FUZZ_G & 1u)) v[FUZZ_G] = 1;
        v[f] = v[f] / v[FUZZ_G] > 0 ? v[f] / v[FUZZ_G] : 1;
    }
    pin_axis(pins, FUZZ_IH, v + FUZZ_IH);
    pin_axis(pins, FUZZ_IW, v + FUZZ_IW);
    pin_axis(pins, FUZZ_ID, v + FUZZ_ID);
}

cnn_status fuzz_pins_parse(const char *text, fuzz_pins *pins, cnn_error *err)
{
    *pins = (fuzz_pins){.set = 0};
    for (const char *at = text; *at != '\0';) {
        const size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz");
        char *end = NULL;
        int field = 0;
        while (field < FUZZ_CAT && (strlen(letters[field]) != length || strncmp(letters[field], at, length) != 0))
            field++;
        const long long value = strtoll(at + length, &end, 10);
        if (field == FUZZ_CAT || end == at + length || value < fuzz_least((fuzz_field)field) || value > INT32_MAX)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                            "--like '%.64s': expected letters of a descriptor with their numbers, e.g. kh3kw3g1, at "
                            "'%.16s'",
                            text, at);
        pins->set |= 1u << field;
        pins->v[field] = value;
        at = end;
    }
    cnn_problem some = {.op = CNN_OP_CONV}; /* else none would ever be drawn */
    fuzz_shape shape;
    for (int f = 0; f < FUZZ_FIELDS; f++) shape.v[f] = fuzz_least((fuzz_field)f);
    pin(pins, &some, &shape);
    if (fuzz_build(&shape, &some)) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--like '%.64s': no convolution has these numbers together", text);
}

void fuzz_draw_shape(cnn_rng *rng, const cnn_problem *problem, double flops, bool may_be_long, const fuzz_pins *pins,
                     fuzz_shape *shape)
{
    enum { LONG = 400, HUGE_ONE = 20000 };
    memset(shape, 0, sizeof *shape);
    const bool beyond_2_31 = chance(rng, HUGE_ONE), beyond_65535 = chance(rng, LONG);
    if (pins->set != 0) may_be_long = false;
    if (may_be_long && beyond_2_31) {
        draw_long(rng, problem, shape, ((int64_t)1 << 31) - 7);
    } else if (may_be_long && beyond_65535) {
        draw_long(rng, problem, shape, 65535);
    } else {
        draw_small(rng, shape);
        if (problem->op == CNN_OP_CONCAT) shape->v[FUZZ_G] = rng_int(rng, 1, CNN_MAX_INPUTS);
        if (problem->op == CNN_OP_OPTIMIZER) shape->v[FUZZ_ICG] *= rng_int(rng, 1, 80);
        if (problem->op == CNN_OP_CONV3D || problem->op == CNN_OP_POOL3D) draw_axis(rng, shape->v + FUZZ_ID);
        if (problem->op == CNN_OP_LOSS && chance(rng, 8)) shape->v[FUZZ_ICG] *= rng_int(rng, 1, 40);
        const bool keep_channels = chance(rng, 2);
        pin(pins, problem, shape);
        cut(problem, flops, keep_channels, pins->set, shape);
        pin(pins, problem, shape);
    }
}
