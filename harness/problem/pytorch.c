/* pytorch.c: PyTorch's texts of layers, as print(model) writes them, with letters behind for what they do not say: the
 * batch, and the size of the input: `Conv2d(3, 64, kernel_size=(7, 7), stride=(2, 2)) mb8ih224`. */
#include "foreign.h"
#include "op.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS = 12, WORD_MAX = 48 };

typedef struct layer {
    char name[WORD_MAX];
    struct {
        char name[WORD_MAX], value[WORD_MAX];
    } arguments[ARGUMENTS];
    int count;
    desc_dims letters; /* what stands behind it */
    bool sized;        /* there are some */
    int rank;          /* of Conv2d: 2 */
} layer;

/* "  (conv1): Conv2d(" : where the name starts; NULL: it is no layer. */
static const char *name_of(const char *line)
{
    line += strspn(line, " \t");
    if (line[0] == '(') {
        line += strcspn(line, ":");
        line += strspn(line, ": ");
    }
    const size_t length = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    return isupper((unsigned char)line[0]) && length < WORD_MAX && line[length] == '(' ? line : NULL;
}

static bool closes(const char *line)
{
    line += strspn(line, " \t");
    return line[0] == ')' && line[1 + strspn(line + 1, " \t\r\n")] == '\0';
}

bool pytorch_is(const char *line) { return name_of(line) != NULL || closes(line); }

/* The arguments between the brackets; the first behind them, NULL where they do not end on this line. */
static const char *take_arguments(layer *l, const char *at)
{
    for (int depth = 1; depth > 0;) {
        const char *const start = at += strspn(at, " ");
        for (; *at != '\0' && !(depth == 1 && (*at == ',' || *at == ')')); at++) depth += (*at == '(') - (*at == ')');
        if (*at == '\0') return NULL;
        if (l->count < ARGUMENTS && at > start) {
            const char *equals = memchr(start, '=', (size_t)(at - start));
            const char *value = equals != NULL ? equals + 1 : start;
            snprintf(l->arguments[l->count].name, WORD_MAX, "%.*s", equals != NULL ? (int)(equals - start) : 0, start);
            snprintf(l->arguments[l->count++].value, WORD_MAX, "%.*s", (int)(at - value), value);
        }
        depth -= *at++ == ')';
    }
    return at;
}

/* By its name, or by its place where it has none. */
static const char *argument(const layer *l, const char *name, int place)
{
    for (int i = 0; i < l->count; i++)
        if (l->arguments[i].name[0] != '\0' ? strcmp(l->arguments[i].name, name) == 0 : i == place)
            return l->arguments[i].value;
    return NULL;
}

static int64_t number(const layer *l, const char *name, int place, int64_t without)
{
    const char *value = argument(l, name, place);
    return value != NULL ? strtoll(value, NULL, 10) : without;
}

/* "(3, 5)", or one number for all axes. */
static void numbers(const layer *l, const char *name, int place, int64_t without, int64_t values[3])
{
    const char *text = argument(l, name, place), *end;
    int count = 0;
    if (text != NULL) count = foreign_numbers(text + (text[0] == '('), ',', values, 3, &end);
    for (int i = count; i < 3; i++) values[i] = count > 0 ? values[count - 1] : without;
}

/* ---- Layers with windows. */

static void put_windows(layer *l, bool pool, bool transposed, problem_words *words)
{
    desc_dims *const d = &l->letters;
    dims_axis *const axes[] = {&d->depth, &d->height, &d->width};
    int64_t k[3], s[3], p[3], dilation[3], more[3];
    const char *padding = argument(l, "padding", pool ? 2 : 4);
    const bool same = padding != NULL && strstr(padding, "same") != NULL;
    numbers(l, "kernel_size", pool ? 0 : 2, 1, k);
    numbers(l, "stride", pool ? 1 : 3, 0, s);
    numbers(l, "padding", pool ? 2 : 4, 0, p);
    numbers(l, "dilation", 99, 1, dilation);
    numbers(l, "output_padding", 99, 0, more);
    if (d->width.i == 0) d->width.i = d->height.i;
    if (l->rank == 1) d->height.i = 0;
    for (int i = 0; i < 3; i++) {
        dims_axis *const a = axes[i];
        const int of = i - (3 - l->rank);
        if (of < 0) continue;
        const int64_t extent = (k[of] - 1) * dilation[of] + 1;
        *a = (dims_axis){.i = a->i,
                         .k = k[of],
                         .s = s[of] > 0 ? s[of]
                              : pool    ? k[of]
                                        : 1,
                         .p = p[of],
                         .d = dilation[of] - 1};
        if (same) a->o = a->i, a->p = (extent - 1) / 2;
        if (transposed) a->o = (a->i - 1) * a->s - 2 * a->p + extent + more[of];
        if (a->i == 0) snprintf(words->why_not, sizeof words->why_not, "-");
    }
    if (!pool) {
        d->ic = number(l, "in_channels", 0, 0);
        d->oc = number(l, "out_channels", 1, 0);
        d->g = number(l, "groups", 99, 1);
    }
    words->no_bias = !pool && argument(l, "bias", 99) != NULL && strcmp(argument(l, "bias", 99), "False") == 0;
    foreign_letters(d, words->text);
}

/* Padding with anything but zeros, and windows that stick out, are other operations. */
static const char *other_operation(const layer *l)
{
    const char *mode = argument(l, "padding_mode", 99), *ceil_mode = argument(l, "ceil_mode", 99);
    if (mode != NULL && strstr(mode, "zeros") == NULL) return "it pads with something else than zeros";
    return ceil_mode != NULL && strcmp(ceil_mode, "True") == 0 ? "ceil_mode lets windows stick out" : NULL;
}

/* ---- Layers without. */

static void put_plain(layer *l, const char *front, problem_words *words)
{
    const desc_dims *d = &l->letters;
    op_put(words->text, "%smb%lldic%lldih%lldiw%lld", front, (long long)d->mb, (long long)d->ic,
           (long long)(d->height.i > 0 ? d->height.i : 1),
           (long long)(d->width.i > 0    ? d->width.i
                       : d->height.i > 0 ? d->height.i
                                         : 1));
}

static void put_linear(layer *l, problem_words *words)
{
    const char *bias = argument(l, "bias", 99);
    words->op = CNN_OP_FC;
    words->no_bias = bias != NULL && strcmp(bias, "False") == 0;
    op_put(words->text, "mb%lldic%lldoc%lld", (long long)l->letters.mb, (long long)number(l, "in_features", 0, 0),
           (long long)number(l, "out_features", 1, 0));
}

static void put_act(layer *l, const char *kind, const char *alpha, problem_words *words)
{
    char front[WORD_MAX];
    words->op = CNN_OP_ACT;
    snprintf(front, sizeof front, alpha != NULL ? "%s=%s:" : "%s:", kind, alpha);
    if (l->letters.ic == 0) snprintf(words->why_not, sizeof words->why_not, "-");
    put_plain(l, front, words);
}

static void put_batchnorm(layer *l, problem_words *words)
{
    char front[128];
    const char *eps = argument(l, "eps", 1), *momentum = argument(l, "momentum", 2);
    words->op = CNN_OP_BATCHNORM;
    snprintf(front, sizeof front, "eps=%s,momentum=%s:", eps != NULL ? eps : "1e-5",
             momentum != NULL ? momentum : "0.1");
    l->letters.ic = number(l, "num_features", 0, 0);
    if (!l->sized) snprintf(words->why_not, sizeof words->why_not, "-");
    put_plain(l, front, words);
}

static void put_layer(layer *l, problem_words *words)
{
    const size_t length = strlen(l->name);
    const bool ranked = length > 2 && l->name[length - 1] == 'd' && strchr("123", l->name[length - 2]) != NULL;
    char plain[WORD_MAX];
    snprintf(plain, sizeof plain, "%.*s", (int)(ranked ? length - 2 : length), l->name);
    l->rank = ranked ? l->name[length - 2] - '0' : 0;
    const char *other = other_operation(l);
    if (other != NULL) {
        snprintf(words->why_not, sizeof words->why_not, "%s", other);
    } else if (ranked && (strcmp(plain, "Conv") == 0 || strcmp(plain, "ConvTranspose") == 0)) {
        words->op = plain[4] != '\0' ? CNN_OP_DECONV : CNN_OP_CONV;
        put_windows(l, false, plain[4] != '\0', words);
    } else if (ranked && (strcmp(plain, "MaxPool") == 0 || strcmp(plain, "AvgPool") == 0)) {
        words->op = CNN_OP_POOL; /* PyTorch's mean counts the padding, unless it is told not to */
        op_put(words->text, "%s:", plain[0] == 'M' ? "max" : argument(l, "count_include_pad", 99) ? "avg" : "avg_pad");
        put_windows(l, true, false, words);
        if (l->letters.ic == 0) snprintf(words->why_not, sizeof words->why_not, "-");
    } else if (ranked && strcmp(plain, "BatchNorm") == 0) {
        put_batchnorm(l, words);
    } else if (strcmp(plain, "Linear") == 0) {
        put_linear(l, words);
    } else if (strcmp(plain, "ReLU") == 0 || strcmp(plain, "Sigmoid") == 0 || strcmp(plain, "Tanh") == 0) {
        put_act(l, plain[0] == 'R' ? "relu" : plain[0] == 'S' ? "sigmoid" : "tanh", NULL, words);
    } else if (strcmp(plain, "LeakyReLU") == 0) {
        put_act(l, "leaky_relu", argument(l, "negative_slope", 0), words);
    } else {
        words->op = CNN_OP_COUNT;
        snprintf(words->why_not, sizeof words->why_not, "no operation here is PyTorch's %s", l->name);
    }
}

cnn_status pytorch_read(problem_reader *reader, const char *line, cnn_error *err)
{
    layer l = {.letters = {.g = 1, .mb = 2}};
    problem_words words = {.op = CNN_OP_CONV};
    const char *name = name_of(line);
    if (name == NULL) return CNN_OK;
    const size_t length = strcspn(name, "(");
    snprintf(l.name, sizeof l.name, "%.*s", (int)length, name);
    const char *rest = take_arguments(&l, name + length + 1);
    if (rest == NULL) return CNN_OK; /* what holds other layers, which stand below it */
    rest += strspn(rest, " \t,\r\n");
    l.sized = *rest != '\0';
    if (l.sized && dims_parse(rest, 0, "mb ic id ih iw", &l.letters, err) != CNN_OK)
        return problem_refuse(reader, name, err->message, err);
    put_layer(&l, &words);
    if (strcmp(words.why_not, "-") == 0)
        return problem_refuse(reader, name,
                              "does not say how large its input is: write letters behind it, as in `Conv2d(...) "
                              "mb8ih56`, or `ReLU() mb8ic64ih56`",
                              err);
    return problem_give(reader, name, &words, err);
}
