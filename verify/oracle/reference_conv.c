/* reference_conv.c: thesis eq. 3.5 to 3.10, with groups, any padding, dilation and the flipped kernel.
 *
 * All three directions are sums of products, and are computed alike: for a block of neighbouring results, what they
 * read of x (or dy) is written out, one row of the panel a term, zeros where a tap meets no pixel; then each channel's
 * row of the other factor is multiplied with it (reference_sums.c).
 *
 *   direction   results in a block          terms (rows of the panel)   the other factor
 *   FWD         pixels of y, all channels   (c,i,j): x at the tap       w[k][c,i,j]
 *   BWD_D       pixels of dx, all channels  (k,i,j): dy at the tap      w[k][c,i,j]
 *   BWD_W       weights (c,i,j), all k      (n,p,q): x at the tap       dy[n][k][p,q]
 *
 * BWD_D with a stride: only every s-th tap meets a pixel of dx, another one beside it. So the pixels of a block are s
 * apart from each other: they have their taps in common.
 *
 * Each task owns the elements it writes and adds to them in a fixed order: the same bits for any number of threads. */
#include "element.h"
#include "reference.h"

#include <math.h>
#include <string.h>

enum { TILES = 4, BLOCK = TILES * VF_LANES, DEPTH = 128, HELD = 64, CHANNELS = 8 };

/* One axis of the window. */
typedef struct axis {
    int64_t i, o, k, s, p, d; /* d: the distance of taps, dh + 1 */
} axis;

typedef struct conv_task {
    const cnn_conv_desc *d;
    const double *x, *w, *b, *dy, *before, *before_b; /* before: what results are added to, or a residual */
    vf_out out, out_b;
    axis deep, rows, cols;              /* rows of one depth; all else counts rows of all depths together */
    int64_t icg, ocg, taps, in, pixels; /* channels of a group; kh*kw; pixels of a plane of x, of y */
    int64_t blocks;                     /* of a plane, or of a channel's weights */
    int64_t down, right;                /* pixels of a block are so many rows and columns apart */
    double zero;                        /* x is counted from there */
    bool forward;
} conv_task;

/* What a block of results reads: panel.row[tile][term], and where the term's other factor stands. */
typedef struct panel {
    _Alignas(sizeof(vf_lanes)) double row[TILES][DEPTH][VF_LANES];
    int64_t at[DEPTH], depth;
} panel;

/* ---- What a tap connects along one axis. */

/* The pixel of the other tensor that a tap connects with pixel `at`; -1: none. */
typedef int64_t connect_fn(const axis *a, int64_t at, int64_t tap);

static int64_t read_by_output(const axis *a, int64_t at, int64_t tap)
{
    const int64_t i = at * a->s - a->p + tap * a->d;
    return i >= 0 && i < a->i ? i : -1;
}

static int64_t written_from_input(const axis *a, int64_t at, int64_t tap)
{
    const int64_t o = at + a->p - tap * a->d;
    return o >= 0 && o % a->s == 0 && o / a->s < a->o ? o / a->s : -1;
}

/* [*first, *last): the taps that connect one of the pixels from..to with anything. */
static void taps_of(const axis *a, bool forward, int64_t from, int64_t to, int64_t *first, int64_t *last)
{
    /* Of an output, input o*s - p + t*d is in [0, i); of an input, output times s, i + p - t*d, is in [0, o*s - s]. */
    const int64_t low = forward ? a->p - to * a->s : from + a->p - (a->o - 1) * a->s;
    const int64_t high = forward ? a->i - 1 + a->p - from * a->s : to + a->p;
    *first = low > 0 ? (low + a->d - 1) / a->d : 0;
    *last = high < 0 ? 0 : high / a->d + 1;
    if (*last > a->k) *last = a->k;
}

/* How many products a pixel takes part in, and a tap. */
static int64_t count_taps(const axis *a, bool forward, int64_t at)
{
    connect_fn *const connect = forward ? read_by_output : written_from_input;
    int64_t first, last, count = 0;
    taps_of(a, forward, at, at, &first, &last);
    for (int64_t tap = first; tap < last; tap++) count += connect(a, at, tap) >= 0;
    return count;
}

static int64_t count_outputs(const axis *a, int64_t tap)
{
    int64_t count = 0;
    for (int64_t o = 0; o < a->o; o++) count += read_by_output(a, o, tap) >= 0;
    return count;
}

/* All outputs that a tap (i, j), counted in one, connects with a pixel. */
static int64_t count_pixels(const conv_task *t, int64_t tap)
{
    const int64_t i = tap / t->cols.k;
    return count_outputs(&t->deep, i / t->rows.k) * count_outputs(&t->rows, i % t->rows.k) *
           count_outputs(&t->cols, tap % t->cols.k);
}

/* The same of rows of all depths. `forward` as above. */
static int64_t connect_row(const conv_task *t, bool forward, int64_t at, int64_t tap)
{
    connect_fn *const connect = forward ? read_by_output : written_from_input;
    const int64_t mine = forward ? t->rows.o : t->rows.i, other = forward ? t->rows.i : t->rows.o;
    const int64_t z = connect(&t->deep, at / mine, tap / t->rows.k);
    const int64_t row = z < 0 ? -1 : connect(&t->rows, at % mine, tap % t->rows.k);
    return row < 0 ? -1 : z * other + row;
}

static void rows_of_taps(const conv_task *t, int64_t from, int64_t to, int64_t *first, int64_t *last)
{
    const int64_t rows = t->forward ? t->rows.o : t->rows.i;
    if (t->deep.k * t->deep.o * t->deep.i == 1) {
        taps_of(&t->rows, t->forward, from, to, first, last);
        return;
    }
    taps_of(&t->deep, t->forward, from / rows, to / rows, first, last);
    *first *= t->rows.k, *last *= t->rows.k;
}

static int64_t count_row_taps(const conv_task *t, int64_t at)
{
    const int64_t rows = t->forward ? t->rows.o : t->rows.i;
    return count_taps(&t->deep, t->forward, at / rows) * count_taps(&t->rows, t->forward, at % rows);
}

/* Where tap (i, j) stands in the memory of a kernel. */
static int64_t weight(const cnn_conv_desc *d, int64_t i, int64_t j)
{
    return d->flip ? (d->kh - 1 - i) * d->kw + d->kw - 1 - j : i * d->kw + j;
}

/* Starts an element: what it is added to, and the bias. */
static void start(const vf_out *out, int64_t e, const double *before, const double *bias, double taps)
{
    double value = 0.0, magnitude = 0.0;
    if (bias != NULL) value += *bias, magnitude += fabs(*bias), taps += 1.0;
    if (before != NULL) value += before[e], magnitude += fabs(before[e]), taps += 1.0;
    vf_put(out, e, value, magnitude, taps);
}

/* Adds the panel's products to `lanes` results of `rows` channels: channel r's at e + r*step, its factors at
 * a + r*a_step. Empties the panel. The factors of some channels are brought together first, for they stand far from
 * each other, and all tiles read them. */
static void add_panel(const vf_out *out, panel *b, int64_t e, int64_t lanes, int64_t rows, int64_t step,
                      const double *a, int64_t a_step)
{
    double together[DEPTH * CHANNELS];
    int64_t at[DEPTH];
    for (int64_t t = 0; t < b->depth; t++) at[t] = t * CHANNELS;
    for (int64_t r0 = 0; b->depth > 0 && r0 < rows; r0 += CHANNELS) {
        const int64_t some = rows - r0 < CHANNELS ? rows - r0 : CHANNELS;
        for (int64_t r = 0; r < some; r++)
            for (int64_t t = 0; t < b->depth; t++) together[t * CHANNELS + r] = a[(r0 + r) * a_step + b->at[t]];
        for (int64_t tile = 0; tile * VF_LANES < lanes; tile++) {
            const int64_t to = e + r0 * step + tile * VF_LANES, left = lanes - tile * VF_LANES;
            const vf_sums sums = {.a = together,
                                  .a_step = 1,
                                  .at = at,
                                  .b = (const vf_lanes *)b->row[tile],
                                  .value = out->value + to,
                                  .magnitude = out->magnitude == NULL ? NULL : out->magnitude + to,
                                  .step = step,
                                  .rows = some,
                                  .lanes = left < VF_LANES ? left : VF_LANES,
                                  .depth = b->depth};
            vf_add_sums(&sums);
        }
    }
    b->depth = 0;
}

/* ---- FWD and BWD_D: a block of pixels of a plane. */

/* The pixels of a block of results, and the channels that are summed over: planes of `plane` pixels, `width` wide, from
 * `source` on; the weights of a channel stand `step` further on than those of the one before. */
typedef struct reading {
    int64_t row[BLOCK], col[BLOCK], at[BLOCK], count; /* at: in the plane of results */
    const double *source;
    int64_t channels, plane, width, step;
    double zero;
} reading;

/* Where in a plane of the source each pixel's tap (i, j) stands; -1: nowhere. False: for none of them. */
static bool find_pixels(const conv_task *t, const reading *r, int64_t i, int64_t j, int64_t at[BLOCK])
{
    connect_fn *const connect = t->forward ? read_by_output : written_from_input;
    int64_t row = -1, last_row = -1;
    bool any = false;
    if (t->down * t->right > 1 && ((r->row[0] + t->rows.p - i * t->rows.d) % t->rows.s != 0 ||
                                   (r->col[0] + t->cols.p - j * t->cols.d) % t->cols.s != 0))
        return false; /* and so it is for all of them */
    for (int64_t e = 0; e < r->count; e++) {
        if (r->row[e] != last_row) row = connect_row(t, t->forward, r->row[e], i), last_row = r->row[e];
        const int64_t col = row < 0 ? -1 : connect(&t->cols, r->col[e], j);
        at[e] = col < 0 ? -1 : row * r->width + col;
        any = any || col >= 0;
    }
    for (int64_t e = r->count; e < BLOCK; e++) at[e] = -1;
    return any;
}

static void gather(panel *b, const double *plane, double zero, const int64_t at[BLOCK], int64_t weight_at)
{
    for (int e = 0; e < BLOCK; e++) { /* without branches */
        const uint64_t inside = at[e] < 0 ? 0 : UINT64_MAX;
        const double value = plane[(uint64_t)at[e] & inside] - zero;
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        bits &= inside;
        memcpy(&b->row[e / VF_LANES][b->depth][e % VF_LANES], &bits, sizeof bits);
    }
    b->at[b->depth++] = weight_at;
}

/* Sums over channels and taps; channels in parts, so that a part's weights lie together in memory. */
static void sum_block(const conv_task *t, const reading *r, const vf_out *out, int64_t e, int64_t rows, int64_t step,
                      const double *w, int64_t w_step)
{
    int64_t i0, i1, j0, j1, at[BLOCK];
    const int64_t last = r->count - 1;
    const bool one_row = r->row[0] == r->row[last];
    panel b;
    b.depth = 0;
    rows_of_taps(t, r->row[0], r->row[last], &i0, &i1);
    taps_of(&t->cols, t->forward, one_row ? r->col[0] : 0,
            one_row ? r->col[last] : (t->forward ? t->cols.o : t->cols.i) - 1, &j0, &j1);
    if (i1 <= i0 || j1 <= j0) return;
    const int64_t part = (i1 - i0) * (j1 - j0) < DEPTH ? DEPTH / ((i1 - i0) * (j1 - j0)) : 1;
    for (int64_t c0 = 0; c0 < r->channels; c0 += part) {
        const int64_t c1 = c0 + part < r->channels ? c0 + part : r->channels;
        for (int64_t i = i0; i < i1; i++)
            for (int64_t j = j0; j < j1; j++) {
                if (!find_pixels(t, r, i, j, at)) continue;
                for (int64_t c = c0; c < c1; c++) {
                    gather(&b, r->source + c * r->plane, r->zero, at, c * r->step + weight(t->d, i, j));
                    if (b.depth == DEPTH) add_panel(out, &b, e, r->count, rows, step, w, w_step);
                }
            }
        add_panel(out, &b, e, r->count, rows, step, w, w_step);
    }
}

/* The same where pixels are apart: their results are held beside each other meanwhile, so many channels at a time. */
static void sum_apart(const conv_task *t, const reading *r, int64_t e, int64_t rows, int64_t step, const double *w,
                      int64_t w_step)
{
    double value[HELD * BLOCK], magnitude[HELD * BLOCK];
    const bool both = t->out.magnitude != NULL;
    const vf_out held = {value, both ? magnitude : NULL, NULL, NULL};
    for (int64_t c0 = 0; c0 < rows; c0 += HELD) {
        const int64_t some = rows - c0 < HELD ? rows - c0 : HELD, from = e + c0 * step;
        for (int64_t c = 0; c < some; c++)
            for (int64_t a = 0; a < r->count; a++) {
                value[c * BLOCK + a] = t->out.value[from + c * step + r->at[a]];
                if (both) magnitude[c * BLOCK + a] = t->out.magnitude[from + c * step + r->at[a]];
            }
        sum_block(t, r, &held, 0, some, BLOCK, w + c0 * w_step, w_step);
        for (int64_t c = 0; c < some; c++)
            for (int64_t a = 0; a < r->count; a++) {
                t->out.value[from + c * step + r->at[a]] = value[c * BLOCK + a];
                if (both) t->out.magnitude[from + c * step + r->at[a]] = magnitude[c * BLOCK + a];
            }
    }
}

/* How many blocks the pixels of an image's plane make that begin at row i and column j, `down` and `right` apart. */
static int64_t blocks_from(const conv_task *t, int64_t i, int64_t j)
{
    const cnn_conv_desc *d = t->d;
    const int64_t rows = ((t->forward ? d->oh : d->ih) - i + t->down - 1) / t->down;
    const int64_t cols = ((t->forward ? d->ow : d->iw) - j + t->right - 1) / t->right;
    return rows > 0 && cols > 0 ? (rows * cols + BLOCK - 1) / BLOCK : 0;
}

static int64_t blocks_of_plane(const conv_task *t)
{
    int64_t blocks = 0;
    for (int64_t i = 0; i < t->down; i++)
        for (int64_t j = 0; j < t->right; j++) blocks += blocks_from(t, i, j);
    return blocks;
}

/* The pixels of a block. */
static void place_pixels(const conv_task *t, int64_t block, reading *r)
{
    const int64_t height = t->forward ? t->d->oh : t->d->ih, width = t->forward ? t->d->ow : t->d->iw;
    int64_t i = 0, j = 0;
    for (int64_t here; block >= (here = blocks_from(t, i, j)); block -= here)
        if (++j == t->right) j = 0, i++;
    const int64_t cols = (width - j + t->right - 1) / t->right, rows = (height - i + t->down - 1) / t->down;
    const int64_t first = block * BLOCK, left = rows * cols - first;
    r->count = left < BLOCK ? left : BLOCK;
    for (int64_t a = 0; a < r->count; a++) {
        r->row[a] = i + (first + a) / cols * t->down, r->col[a] = j + (first + a) % cols * t->right;
        r->at[a] = r->row[a] * width + r->col[a];
    }
}

/* Task (n, group, block): that block of pixels in all planes of the group. */
static void sum_pixels(void *arg, int64_t task, int worker)
{
    const conv_task *t = arg;
    const cnn_conv_desc *d = t->d;
    const bool forward = t->forward;
    const int64_t plane = forward ? t->pixels : t->in;
    const int64_t channels = forward ? t->icg : t->ocg, results = forward ? t->ocg : t->icg;
    const int64_t image = task / t->blocks, group = image % d->g;
    const int64_t e = image * results * plane; /* images and groups count on in one */
    reading r = {.source = (forward ? t->x : t->dy) + image * channels * (forward ? t->in : t->pixels),
                 .channels = channels,
                 .plane = forward ? t->in : t->pixels,
                 .width = forward ? d->iw : d->ow,
                 .step = forward ? t->taps : t->icg * t->taps,
                 .zero = forward ? t->zero : 0.0};
    (void)worker;
    place_pixels(t, task % t->blocks, &r);
    for (int64_t a = 0; a < r.count; a++) {
        const double taps = /* for the rounding of each */
            t->out.magnitude == NULL
                ? 0.0
                : (double)(channels * count_row_taps(t, r.row[a]) * count_taps(&t->cols, forward, r.col[a]));
        for (int64_t c = 0; c < results; c++)
            start(&t->out, e + c * plane + r.at[a], t->before, t->b == NULL ? NULL : t->b + group * results + c, taps);
    }
    const double *w = t->w + group * t->ocg * t->icg * t->taps;
    if (t->down * t->right > 1)
        sum_apart(t, &r, e, results, plane, w, t->taps);
    else
        sum_block(t, &r, &t->out, e + r.at[0], results, plane, w, forward ? t->icg * t->taps : t->taps);
}

/* ---- BWD_W: a block of the weights (c, i, j) of a channel. */

/* x at weight m's tap for `count` outputs from `first` on, in lane `lane` of the panel. Whether any is not outside. */
static bool gather_weight(const conv_task *t, const double *image, int64_t m, int64_t first, int64_t count, int lane,
                          panel *b)
{
    const cnn_conv_desc *d = t->d;
    const double *plane = image + m / t->taps * t->in;
    const int64_t tap = d->flip ? t->taps - 1 - m % t->taps : m % t->taps, i = tap / d->kw, j = tap % d->kw;
    int64_t p = first / d->ow, q = first % d->ow;
    int64_t h = connect_row(t, true, p, i);
    bool any = false;
    for (int64_t a = 0; a < count; a++) {
        const int64_t v = q * d->sw - d->pw + j * (d->dw + 1);
        const bool inside = h >= 0 && v >= 0 && v < d->iw;
        b->row[lane / VF_LANES][a][lane % VF_LANES] = inside ? plane[h * d->iw + v] : 0.0;
        any = any || inside;
        if (++q == d->ow && a + 1 < count) q = 0, h = connect_row(t, true, ++p, i);
    }
    return any;
}

/* Task (group, block): that block of weights of all output channels of the group. */
static void sum_weights(void *arg, int64_t task, int worker)
{
    const conv_task *t = arg;
    const cnn_conv_desc *d = t->d;
    const int64_t row = t->icg * t->taps, group = task / t->blocks, e0 = task % t->blocks * BLOCK;
    const int64_t count = row - e0 < BLOCK ? row - e0 : BLOCK, e = group * t->ocg * row + e0;
    panel b;
    (void)worker;
    for (int64_t a = 0; a < count; a++) {
        const int64_t m = (e0 + a) % t->taps, tap = d->flip ? t->taps - 1 - m : m;
        const double terms = t->out.magnitude == NULL ? 0.0 : (double)(d->mb * count_pixels(t, tap));
        for (int64_t k = 0; k < t->ocg; k++) start(&t->out, e + k * row + a, t->before, NULL, terms);
    }
    for (int64_t n = 0; n < d->mb; n++)
        for (int64_t first = 0; first < t->pixels; first += DEPTH) {
            const double *image = t->x + (n * d->ic + group * t->icg) * t->in;
            bool any = false;
            b.depth = t->pixels - first < DEPTH ? t->pixels - first : DEPTH;
            for (int64_t a = 0; a < b.depth; a++) b.at[a] = first + a;
            for (int64_t a = 0; a < count; a++)
                any = gather_weight(t, image, e0 + a, first, b.depth, (int)a, &b) || any;
            for (int64_t a = count; a % VF_LANES != 0; a++) /* the lanes of the last tile that are no weights */
                for (int64_t p = 0; p < b.depth; p++) b.row[a / VF_LANES][p][a % VF_LANES] = 0.0;
            if (any)
                add_panel(&t->out, &b, e, count, t->ocg, row, t->dy + (n * d->oc + group * t->ocg) * t->pixels,
                          t->pixels);
        }
}

/* Task k: db[k], the sum of dy's planes. */
static void sum_bias(void *arg, int64_t k, int worker)
{
    const conv_task *t = arg;
    const cnn_conv_desc *d = t->d;
    double sum = 0.0, magnitude = 0.0, terms = (double)(d->mb * t->pixels);
    (void)worker;
    for (int64_t n = 0; n < d->mb; n++)
        for (int64_t p = 0; p < t->pixels; p++) {
            const double dy = t->dy[(n * d->oc + k) * t->pixels + p];
            sum += dy, magnitude += fabs(dy);
        }
    if (t->before_b != NULL) sum += t->before_b[k], magnitude += fabs(t->before_b[k]), terms += 1.0;
    vf_put(&t->out_b, k, sum, magnitude, terms);
}

void vf_reference_conv(const vf_call *call)
{
    static const char *const result[] = {[CNN_FWD] = "y", [CNN_BWD_D] = "dx", [CNN_BWD_W] = "dw"};
    const cnn_conv_desc all = vf_as_conv(call->problem), *d = &all;
    conv_task t = {
        .d = d,
        .x = vf_in(call, "x"),
        .w = vf_in(call, "w"),
        .b = vf_in(call, "b"),
        .dy = vf_in(call, "dy"),
        .out = vf_output(call, result[call->dir]),
        .out_b = vf_output(call, "db"),
        .deep = {.i = d->id, .o = d->od, .k = d->kd, .s = d->sd, .p = d->pd, .d = d->dd + 1},
        .rows = {.i = d->ih / d->id, .o = d->oh / d->od, .k = d->kh / d->kd, .s = d->sh, .p = d->ph, .d = d->dh + 1},
        .cols = {.i = d->iw, .o = d->ow, .k = d->kw, .s = d->sw, .p = d->pw, .d = d->dw + 1},
        .icg = d->ic / d->g,
        .ocg = d->oc / d->g,
        .taps = d->kh * d->kw,
        .in = d->ih * d->iw,
        .pixels = d->oh * d->ow,
        .down = 1,
        .right = 1,
        .zero = d->quant.zero_x,
        .forward = call->dir == CNN_FWD};
    if (call->beta != 0.0) t.before = vf_in(call, result[call->dir]), t.before_b = vf_in(call, "db");
    if (d->epilogue.add && !(call->late & VF_LATE_Z) && !cnn_is_quantized(d->t.dtype)) t.before = vf_in(call, "z");
    if (call->late & VF_LATE_B) t.b = NULL;
    if (call->dir == CNN_BWD_D && d->kd * d->id * d->od == 1) /* a stride past the image: each pixel is alone */
        t.down = d->sh < d->ih ? d->sh : d->ih, t.right = d->sw < d->iw ? d->sw : d->iw;
    t.blocks = call->dir == CNN_BWD_W ? (t.icg * t.taps + BLOCK - 1) / BLOCK : blocks_of_plane(&t);
    if (t.out.value != NULL)
        parallel_for(call->pool, (call->dir == CNN_BWD_W ? d->g : d->mb * d->g) * t.blocks,
                     call->dir == CNN_BWD_W ? sum_weights : sum_pixels, &t);
    if (t.out_b.value != NULL) parallel_for(call->pool, d->oc, sum_bias, &t);
}
