/* miopen.c: command lines of MIOpenDriver: `MIOpenDriver conv -n 128 -c 3 -H 224 -W 224 -k 64 -y 7 -x 7 -p 3 -q 3 -u 2
 * -v 2 -F 1`. Letters, long names and defaults are those that `MIOpenDriver conv --help` lists. */
#include "foreign.h"

#include <stdlib.h>
#include <string.h>

static const char program[] = "MIOpenDriver";

/* An option: its letter, its long name, and where its number goes: a default stands there already. */
typedef struct letter {
    char letter;
    const char *name;
    int64_t *value;
} letter;

typedef struct numbers {
    desc_dims d;
    int64_t forward, bias, spatial, trans_pad_h, trans_pad_w;
    char mode[16], pad_mode[16], layout[16];
} numbers;

bool miopen_is(const char *line) { return strstr(line, program) != NULL; }

static int64_t *find(const letter *list, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (word[1] == '-' ? strcmp(word + 2, list[i].name) == 0 : word[1] == list[i].letter && word[2] == '\0')
            return list[i].value;
    return NULL;
}

static void take(numbers *n, const char *word, const char *value)
{
    desc_dims *const d = &n->d;
    const letter list[] = {{'n', "batchsize", &d->mb},
                           {'c', "in_channels", &d->ic},
                           {'k', "out_channels", &d->oc},
                           {'g', "group_count", &d->g},
                           {'!', "in_d", &d->depth.i},
                           {'H', "in_h", &d->height.i},
                           {'W', "in_w", &d->width.i},
                           {'@', "fil_d", &d->depth.k},
                           {'y', "fil_h", &d->height.k},
                           {'x', "fil_w", &d->width.k},
                           {'#', "conv_stride_d", &d->depth.s},
                           {'u', "conv_stride_h", &d->height.s},
                           {'v', "conv_stride_w", &d->width.s},
                           {'$', "pad_d", &d->depth.p},
                           {'p', "pad_h", &d->height.p},
                           {'q', "pad_w", &d->width.p},
                           {'^', "dilation_d", &d->depth.d},
                           {'l', "dilation_h", &d->height.d},
                           {'j', "dilation_w", &d->width.d},
                           {'_', "spatial_dim", &n->spatial},
                           {'F', "forw", &n->forward},
                           {'b', "bias", &n->bias},
                           {'Y', "trans_output_pad_h", &n->trans_pad_h},
                           {'X', "trans_output_pad_w", &n->trans_pad_w}};
    int64_t *at = find(list, sizeof list / sizeof *list, word);
    if (at != NULL) *at = strtoll(value, NULL, 10);
    if (strcmp(word, "-m") == 0 || strcmp(word, "--mode") == 0) snprintf(n->mode, sizeof n->mode, "%s", value);
    if (strcmp(word, "-z") == 0 || strcmp(word, "--pad_mode") == 0)
        snprintf(n->pad_mode, sizeof n->pad_mode, "%s", value);
    if (strcmp(word, "-I") == 0 || strcmp(word, "--in_layout") == 0) snprintf(n->layout, sizeof n->layout, "%s", value);
}

/* Padding "same" and "valid" say more than -p and -q. */
static void pad_by_mode(numbers *n)
{
    dims_axis *const axes[] = {&n->d.depth, &n->d.height, &n->d.width};
    const bool same = strcmp(n->pad_mode, "same") == 0, valid = strcmp(n->pad_mode, "valid") == 0;
    for (int i = 0; i < 3; i++) {
        dims_axis *const a = axes[i];
        if (valid) a->p = 0;
        if (same && a->i > 0 && a->s > 0) a->o = (a->i + a->s - 1) / a->s, a->p = -1;
    }
}

static void put_conv(numbers *n, problem_words *words)
{
    dims_axis *const axes[] = {&n->d.depth, &n->d.height, &n->d.width};
    const int64_t more[] = {0, n->trans_pad_h, n->trans_pad_w};
    const bool transposed = strcmp(n->mode, "trans") == 0;
    words->op = transposed ? CNN_OP_DECONV : CNN_OP_CONV;
    if (n->spatial != 3) n->d.depth = (dims_axis){.i = 0};
    pad_by_mode(n);
    for (int i = 0; i < 3; i++) {
        dims_axis *const a = axes[i];
        a->d -= 1; /* there, 1 is dense */
        if (transposed && a->i > 0) a->o = (a->i - 1) * a->s + (a->k - 1) * (a->d + 1) + 1 - 2 * a->p + more[i];
    }
    words->no_bias = n->bias == 0;
    words->said.dirs = n->forward == 0 ? 7 : n->forward & 7; /* 1 FWD, 2 BWD_D, 4 BWD_W: as here */
    foreign_letters(&n->d, words->text);
}

static void put_pool(numbers *n, problem_words *words)
{
    words->op = CNN_OP_POOL;
    snprintf(words->text, sizeof words->text, "%s:",
             strcmp(n->mode, "avg") == 0      ? "avg"
             : strcmp(n->mode, "avg_in") == 0 ? "avg_pad"
                                              : "max");
    n->d.oc = 0;
    n->d.depth = (dims_axis){.i = 0};
    n->d.height.d = n->d.width.d = 0;
    words->said.dirs = n->forward == 1 ? 1u << CNN_FWD : n->forward == 2 ? 1u << CNN_BWD_D : 0;
    foreign_letters(&n->d, words->text);
}

/* "conv", "convfp16", "convbfp16": the operation with its type behind it. */
static bool is_driver(const char *what, const char *operation, cnn_dtype *dtype)
{
    static const char *const types[CNN_DTYPE_COUNT] = {
        [CNN_F32] = "", [CNN_F64] = "fp64", [CNN_F16] = "fp16", [CNN_BF16] = "bfp16", [CNN_S8_S8_S32] = "int8"};
    const size_t length = strlen(operation);
    if (strncmp(what, operation, length) != 0) return false;
    for (int i = 0; i < CNN_DTYPE_COUNT; i++)
        if (types[i] != NULL && strcmp(what + length, types[i]) == 0) return *dtype = (cnn_dtype)i, true;
    return false;
}

static void put_words(const char *what, numbers *n, problem_words *words)
{
    cnn_dtype dtype = CNN_F32;
    const bool conv = is_driver(what, "conv", &dtype), pool = is_driver(what, "pool", &dtype);
    const bool nhwc = strcmp(n->layout, "NHWC") == 0;
    foreign_type(words, dtype, nhwc ? CNN_NHWC : n->layout[0] != '\0' ? CNN_NCHW : CNN_LAYOUT_COUNT);
    if (conv) put_conv(n, words);
    if (pool) put_pool(n, words);
    if (conv || pool) return;
    words->op = strncmp(what, "conv", 4) == 0 ? CNN_OP_CONV : CNN_OP_COUNT;
    snprintf(words->why_not, sizeof words->why_not, "no operation, or type, here is MIOpenDriver's '%.32s'", what);
}

cnn_status miopen_read(problem_reader *reader, const char *line, cnn_error *err)
{
    const dims_axis usual = {.i = 32, .k = 3, .s = 1, .p = 0, .d = 1};
    numbers n = {.d = {.g = 1, .mb = 100, .ic = 3, .oc = 32, .depth = usual, .height = usual, .width = usual},
                 .spatial = 2};
    problem_words words = {.op = CNN_OP_CONV};
    char text[1024], *save = NULL, what[32] = "";
    const char *option = NULL;
    snprintf(text, sizeof text, "%s", strstr(line, program) + strlen(program));
    for (char *word = strtok_r(text, " \t", &save); word != NULL; word = strtok_r(NULL, " \t", &save)) {
        if (what[0] == '\0') {
            snprintf(what, sizeof what, "%s", word);
        } else if (option == NULL) {
            option = word;
        } else { /* each takes a value */
            take(&n, option, word);
            option = NULL;
        }
    }
    put_words(what, &n, &words);
    return problem_give(reader, strstr(line, program), &words, err);
}
