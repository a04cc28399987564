/* onednn_verbose.c: lines that ONEDNN_VERBOSE=1 prints, of all versions:
 *   onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx2,forward_training,src:f32::blocked:abcd::f0 wei:...,
 *   attr-scratchpad:user,alg:convolution_direct,mb1_ic3oc64_ih224oh112kh7sh2dh0ph3_iw224ow112kw7sw2dw0pw3,0.55
 * They are put into benchdnn's options, which say the same in the same words. */
#include "foreign.h"

#include <stdlib.h>
#include <string.h>

/* The fields behind "exec" or "create:...". */
enum { ENGINE = 1, PRIMITIVE, IMPLEMENTATION, PROPAGATION, TENSORS, ATTRIBUTES, OTHERS, PROBLEM, TIME, FIELDS };

bool onednn_verbose_is(const char *line)
{
    return strstr(line, "onednn_verbose,") != NULL || strstr(line, "dnnl_verbose,") != NULL;
}

static const struct {
    const char *primitive, *driver;
} primitives[] = {{"convolution", "conv"}, {"deconvolution", "deconv"}, {"inner_product", "ip"},
                  {"pooling", "pool"},     {"eltwise", "eltwise"},      {"batch_normalization", "bnorm"},
                  {"binary", "binary"},    {"softmax", "softmax"}};

static bool take_primitive(benchdnn *state, const char *name)
{
    char plain[32];
    snprintf(plain, sizeof plain, "%s", name);
    char *version = strstr(plain, "_v2");
    if (version != NULL) *version = '\0';
    for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++)
        if (strcmp(plain, primitives[i].primitive) == 0) return benchdnn_driver(state, primitives[i].driver);
    return false;
}

/* "src_f32::blocked:acdb::f0" or "src:f32::blocked:acdb::f0": the name, the type, and the tag. */
typedef struct tensor {
    char name[8], type[16], tag[32];
} tensor;

static void read_tensor(const char *text, tensor *t)
{
    const size_t name = strcspn(text, "_:"), type = text[name] != '\0' ? strcspn(text + name + 1, ":") : 0;
    const char *tag = strstr(text, "blocked:");
    snprintf(t->name, sizeof t->name, "%.*s", (int)name, text);
    snprintf(t->type, sizeof t->type, "%.*s", (int)type, text + name + 1);
    snprintf(t->tag, sizeof t->tag, "%.*s", tag != NULL ? (int)strcspn(tag + 8, ":") : 0, tag != NULL ? tag + 8 : "");
}

typedef struct option_list {
    char words[8][256];
    int count;
} option_list;

#define PUT(list, ...)                                                                                                 \
    do {                                                                                                               \
        if ((list)->count < 8) snprintf((list)->words[(list)->count++], 256, __VA_ARGS__);                             \
    } while (0)

/* A layout counts where input and output have the same. Whether there is a bias. */
static bool put_tensors(char *text, option_list *options)
{
    char types[96] = "--dt=", tag[32] = "";
    bool bias = false, alike = true;
    char *save = NULL;
    for (char *word = strtok_r(text, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) {
        tensor t;
        read_tensor(word, &t);
        if (strcmp(t.type, "undef") == 0 || t.type[0] == '\0' || strcmp(t.name, "ws") == 0) continue;
        bias = bias || strncmp(t.name, "bia", 3) == 0;
        if (strlen(types) + strlen(t.type) + 2 < sizeof types)
            strcat(strcat(types, types[5] != '\0' ? ":" : ""), t.type);
        const bool plane = strncmp(t.name, "src", 3) == 0 || strncmp(t.name, "dst", 3) == 0;
        if (plane && tag[0] != '\0') alike = alike && strcmp(tag, t.tag) == 0;
        if (plane) snprintf(tag, sizeof tag, "%s", t.tag);
    }
    PUT(options, "%s", types);
    const bool plain = strcmp(tag, "abcd") == 0 || strcmp(tag, "acdb") == 0;
    if (alike && plain) PUT(options, "--tag=%s", tag);
    return bias;
}

static void put_direction(const char *propagation, bool bias, option_list *options)
{
    const char *dir = strncmp(propagation, "forward", 7) == 0             ? (bias ? "FWD_B" : "FWD_D")
                      : strcmp(propagation, "backward_data") == 0         ? "BWD_D"
                      : strncmp(propagation, "backward_weights", 16) == 0 ? (bias ? "BWD_WB" : "BWD_W")
                                                                          : "BWD_DW";
    if (strncmp(propagation, "undef", 5) != 0) PUT(options, "--dir=%s", dir);
}

/* "alg:eltwise_relu alpha:0 beta:0", "attr-post-ops:sum attr-scratchpad:user". */
static void put_pairs(char *text, option_list *options)
{
    char *save = NULL;
    for (char *word = strtok_r(text, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) {
        char *colon = strchr(word, ':');
        if (colon == NULL) continue;
        *colon = '\0';
        PUT(options, "--%s=%s", word, colon + 1);
    }
}

/* Cuts a line at its commas. How many fields from "exec" on. */
static int cut(char *text, char *fields[FIELDS])
{
    int count = 0;
    for (char *field = strstr(text, "verbose,"), *comma; field != NULL && count < FIELDS; field = comma) {
        comma = strchr(field, ',');
        if (comma != NULL) *comma++ = '\0';
        if (count > 0 || strcmp(field, "exec") == 0 || strncmp(field, "create", 6) == 0) fields[count++] = field;
    }
    return count;
}

cnn_status onednn_verbose_read(problem_reader *reader, const char *line, cnn_error *err)
{
    char text[2048], *fields[FIELDS];
    benchdnn state = {.op = CNN_OP_COUNT};
    option_list options = {.count = 0};
    cnn_status status = CNN_OK;
    snprintf(text, sizeof text, "%s", line);
    if (cut(text, fields) <= PROBLEM) return CNN_OK; /* about the machine, or a version */
    benchdnn_reset(&state);
    if (!take_primitive(&state, fields[PRIMITIVE])) {
        problem_words words = {.op = CNN_OP_COUNT};
        snprintf(words.why_not, sizeof words.why_not, "no operation here is oneDNN's %.32s", fields[PRIMITIVE]);
        return problem_give(reader, fields[PROBLEM], &words, err);
    }
    put_direction(fields[PROPAGATION], put_tensors(fields[TENSORS], &options), &options);
    put_pairs(fields[ATTRIBUTES], &options);
    put_pairs(fields[OTHERS], &options);
    for (int i = 0; status == CNN_OK && i < options.count; i++)
        status = benchdnn_option(&state, reader, options.words[i], err);
    if (status == CNN_OK) status = benchdnn_problems(&state, reader, fields[PROBLEM], err);
    benchdnn_close(&state);
    return status;
}
