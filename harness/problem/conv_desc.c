/* conv_desc.c: benchdnn's descriptor grammar.
 *
 *   gXmbX_icXidXihXiwX_ocXodXohXowX_kdXkhXkwX_sdXshXswX_pdXphXpwX_ddXdhXdwX_zxXzyXsocX_n"name"
 *
 * in any order; '_' is ignored; the name takes the rest. The rules of deduction are those of oneDNN's documentation of
 * the benchdnn convolution driver and of its descriptors: smaller dimensions not given make a square; output not given
 * is computed; padding not given is the trivial one. One more is Stinson's (thesis, equation 3.4): input not given is
 * the least that gives the output. zx, zy and soc, of quantized results, are no letters of benchdnn's. */
#include "dims.h"
#include "harness/base/text.h"
#include "shape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Dimensions stay below 2^31, so that products of two never overflow; tensors may be far larger. */
static const int64_t dim_max = INT32_MAX;

static cnn_status fail_at(cnn_error *err, const char *text, size_t at, const char *what)
{
    return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': column %zu, at '%.16s': %s", text, at + 1, text + at,
                    what);
}

#define AT(field) offsetof(desc_dims, field)
#define AXIS(letter, axis)                                                                                             \
    {"i" letter, AT(axis.i)}, {"o" letter, AT(axis.o)}, {"k" letter, AT(axis.k)}, {"s" letter, AT(axis.s)},            \
        {"p" letter, AT(axis.p)},                                                                                      \
    {                                                                                                                  \
        "d" letter, AT(axis.d)                                                                                         \
    }
static const struct {
    const char *letters;
    size_t at;
} fields[] = {{"mb", AT(mb)}, {"ic", AT(ic)},   {"oc", AT(oc)},   {"g", AT(g)},      {"zx", AT(zx)},
              {"zy", AT(zy)}, {"soc", AT(soc)}, AXIS("d", depth), AXIS("h", height), AXIS("w", width)};

/* The number that a letter (one or two characters, its length in *length) stands for, or NULL. */
static int64_t *find_field(desc_dims *dims, const char *at, size_t *length)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        *length = strlen(fields[i].letters);
        if (strncmp(at, fields[i].letters, *length) == 0) return (int64_t *)(void *)((char *)dims + fields[i].at);
    }
    return NULL;
}

static bool letter_allowed(const char *letters, const char *at, size_t length)
{
    for (const char *l = letters; *l != '\0';) {
        size_t n = strcspn(l, " ");
        if (n == length && strncmp(l, at, n) == 0) return true;
        l += n + (l[n] == ' ');
    }
    return false;
}

static void take_name(desc_dims *dims, const char *at)
{
    size_t length = strlen(at);
    if (length >= 1 && at[0] == '"') {
        at++;
        length--;
        if (length >= 1 && at[length - 1] == '"') length--;
    }
    char name[4 * CNN_NAME_MAX]; /* more than is kept: it is cut between characters */
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : (int)sizeof name - 1, at);
    cnn_visible(name, dims->name, sizeof dims->name); /* it stands in every table and plot */
}

cnn_status dims_parse(const char *text, size_t start, const char *letters, desc_dims *dims, cnn_error *err)
{
    *dims = (desc_dims){.g = 1, .mb = 2};
    dims->depth = dims->height = dims->width = (dims_axis){.s = -1, .p = -1, .d = -1};
    size_t at = start;
    while (text[at] != '\0') {
        if (text[at] == '_') {
            at++;
            continue;
        }
        if (text[at] == 'n') {
            take_name(dims, text + at + 1);
            break;
        }
        size_t length;
        int64_t *field = find_field(dims, text + at, &length);
        if (field == NULL)
            return fail_at(err, text, at, "no dimension has this letter (mb, g, ic, ih, oc, kh, sh, ...)");
        if (!letter_allowed(letters, text + at, length))
            return fail_at(err, text, at, "this operation has no such dimension");
        const char *digits = text + at + length;
        const bool is_zero_point = field == &dims->zx || field == &dims->zy;
        if (is_zero_point && *digits == '-') digits++;
        if (*digits < '0' || *digits > '9') return fail_at(err, text, at + length, "a number >= 0 was expected here");
        char *end;
        errno = 0;
        const long long size = strtoll(digits, &end, 10), value = digits[-1] == '-' ? -size : size;
        if (errno == ERANGE || value > dim_max)
            return CNN_FAIL(err, CNN_UNSUPPORTED, "'%.200s': %.*s is larger than 2147483647", text, (int)length,
                            text + at);
        if (is_zero_point && (value < -128 || value > 255))
            return fail_at(err, text, at, "a zero point is from -128 to 255");
        if (field == &dims->soc && value > 1) return fail_at(err, text, at, "soc is 0 or 1");
        *field = value;
        at = (size_t)(end - text);
    }
    if (at == start) return fail_at(err, text, at, "the descriptor is empty");
    return CNN_OK;
}

/* Nothing of the axis was given (a stride of 1, a padding or a dilation of 0 count as nothing, as in benchdnn). */
static bool axis_absent(const dims_axis *a)
{
    return (a->i | a->k | a->o) == 0 && (a->s == 1 || a->s < 0) && a->p < 1 && a->d < 1;
}

/* What an axis lacks: named, and no more than that. */
static cnn_status check_given(const char *text, char letter, const dims_axis *a, cnn_error *err)
{
    const struct {
        char letter;
        int64_t value;
    } rows[] = {{'i', a->i}, {'k', a->k}};
    if (a->s == 0)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': s%c0, but a stride is 1 at least", text, letter);
    if (a->i == 0 && a->k == 0)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': i%c and k%c are needed, and not 0", text, letter,
                        letter);
    for (int i = 0; i < 2; i++)
        if (rows[i].value == 0)
            return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': %c%c is needed, and not 0", text,
                            rows[i].letter, letter);
    return CNN_OK;
}

/* x = (y - 1) s + (k - 1) d + 1 - 2 p. */
static cnn_status deduce_input(const char *text, char letter, dims_axis *a, cnn_error *err)
{
    if (a->i != 0 || a->o == 0 || a->k == 0 || a->s == 0) return CNN_OK;
    if (a->p < 0) a->p = 0;
    const int64_t input = (a->o - 1) * a->s + cnn_extent(a->k, a->d) - 2 * a->p;
    if (input < 1 || input > dim_max)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': o%c%lld needs an i%c of %lld", text, letter,
                        (long long)a->o, letter, (long long)input);
    a->i = input;
    return CNN_OK;
}

static cnn_status deduce_axis(const char *text, char letter, dims_axis *a, cnn_error *err)
{
    if (axis_absent(a)) return CNN_OK;
    if (a->s < 0) a->s = 1;
    if (a->d < 0) a->d = 0;
    if (deduce_input(text, letter, a, err) != CNN_OK) return err->status;
    if (check_given(text, letter, a, err) != CNN_OK) return err->status;
    const int64_t extent = cnn_extent(a->k, a->d);
    if (a->o == 0) {
        if (a->p < 0) a->p = 0;
        a->o = cnn_out_size(a->i, a->k, a->s, a->p, a->p, a->d);
        if (a->o == 0)
            return CNN_FAIL(err, CNN_BAD_FORMAT,
                            "bad descriptor '%.200s': the kernel spans %lld along %c but the padded input only %lld",
                            text, (long long)extent, letter, (long long)(a->i + 2 * a->p));
    } else if (a->p < 0) {
        a->p = ((a->o - 1) * a->s - a->i + extent) / 2;
        if (a->p < 0)
            return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': o%c%lld would need a negative p%c", text,
                            letter, (long long)a->o, letter);
    }
    return CNN_OK;
}

/* The width of a square is the height. benchdnn overlooks an sw1, pw0 or dw0 that says otherwise; whoever wrote it
 * meant it. */
static cnn_status make_square(const char *text, const dims_axis *height, dims_axis *width, cnn_error *err)
{
    const struct {
        char letter;
        int64_t default_value, width, height;
    } rows[] = {{'s', 1, width->s, height->s}, {'p', 0, width->p, height->p}, {'d', 0, width->d, height->d}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].width == rows[i].default_value && rows[i].height != rows[i].default_value)
            return CNN_FAIL(
                err, CNN_BAD_FORMAT,
                "bad descriptor '%.200s': %cw%lld beside %ch%lld, but no iw and kw: give them, or leave %cw out", text,
                rows[i].letter, (long long)rows[i].width, rows[i].letter, (long long)rows[i].height, rows[i].letter);
    *width = *height;
    return CNN_OK;
}

static bool axis_trivial(const dims_axis *a) { return a->o == 1 && a->i == 1 && a->k == 1 && a->s == 1 && a->p == 0; }

cnn_status dims_deduce_windows(const char *text, desc_dims *dims, cnn_error *err)
{
    dims_axis *const depth = &dims->depth, *const height = &dims->height, *const width = &dims->width;
    if ((width->i | width->k | width->o) == 0 && width->d == height->d)
        width->d = -1; /* it says what the square says */
    const dims_axis one = {.o = 1, .i = 1, .k = 1, .s = 1};
    cnn_status status;
    if ((status = deduce_axis(text, 'd', depth, err)) != CNN_OK) return status;
    if ((status = deduce_axis(text, 'h', height, err)) != CNN_OK) return status;
    if ((status = deduce_axis(text, 'w', width, err)) != CNN_OK) return status;

    if (depth->o == 0 && height->o == 0 && width->o == 0)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': no spatial size is given (ih and kh at least)",
                        text);
    if (depth->o != 0 && height->o == 0 && width->o == 0) {
        *height = *width = *depth; /* a cube */
    } else if (depth->o != 0 && (height->o == 0 || width->o == 0)) {
        return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': with a depth, height and width are both needed",
                        text);
    }
    if (depth->o == 0) *depth = one;
    if (height->o == 0) *height = one;
    if (width->o == 0 && (status = make_square(text, height, width, err)) != CNN_OK) return status;

    depth->p_r = cnn_right_pad(depth->i, depth->o, depth->k, depth->s, depth->p, depth->d);
    height->p_r = cnn_right_pad(height->i, height->o, height->k, height->s, height->p, height->d);
    width->p_r = cnn_right_pad(width->i, width->o, width->k, width->s, width->p, width->d);
    return CNN_OK;
}

bool dims_deep(const desc_dims *dims) { return !axis_trivial(&dims->depth); }

cnn_status dims_refuse_deep(const char *text, const desc_dims *dims, cnn_error *err)
{
    const dims_axis *d = &dims->depth;
    if (!dims_deep(dims)) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED,
                    "'%.200s' is 3-D (id%lld od%lld kd%lld): of this operation, 1-D and 2-D are "
                    "done",
                    text, (long long)d->i, (long long)d->o, (long long)d->k);
}

cnn_status dims_deduce_plain(const char *text, desc_dims *dims, cnn_error *err)
{
    const int64_t depth = dims->depth.i > 0 ? dims->depth.i : 1;
    if (dims->height.i == 0 && dims->width.i == 0) dims->height.i = dims->width.i = depth; /* a cube, or nothing */
    if (dims->height.i == 0) dims->height.i = 1;
    if (dims->width.i == 0) dims->width.i = dims->height.i;
    if (dims->height.i > dim_max / depth)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "'%.200s': depth and height together are above 2147483647", text);
    dims->height.i *= depth;
    return CNN_OK;
}
