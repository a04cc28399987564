/* cudnn_log.c: logs of cuDNN (CUDNN_LOGINFO_DBG=1, since version 9 CUDNN_LOGLEVEL_DBG=3): blocks of lines, a call each,
 * with an empty line behind. Convolutions are taken, of the calls of old (cudnnConvolutionForward) and of the graphs of
 * the backend, whose operations stand in several calls each: what is the same problem comes once. */
#include "foreign.h"

#include <stdlib.h>
#include <string.h>

bool cudnn_log_is(const char *line)
{
    return strncmp(line, "I! CuDNN", 8) == 0 || strncmp(line, "i! ", 3) == 0 || strncmp(line, "W! CuDNN", 8) == 0;
}

static const struct {
    const char *name;
    cnn_dir dir;
} calls[] = {{"cudnnConvolutionForward()", CNN_FWD},
             {"cudnnConvolutionBiasActivationForward()", CNN_FWD},
             {"cudnnConvolutionBackwardData()", CNN_BWD_D},
             {"cudnnConvolutionBackwardFilter()", CNN_BWD_W},
             {"OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR", CNN_FWD},
             {"OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR", CNN_BWD_D},
             {"OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR", CNN_BWD_W}};

/* The key of "i!     dimA: type=int; val=[2,6,9,8];", of which `key` gets "dimA". */
static const char *value_of(const char *line, char key[32])
{
    line += strspn(line, "Ii! ");
    const size_t length = strcspn(line, ":");
    snprintf(key, 32, "%.*s", (int)length, line);
    const char *value = strstr(line, "val=");
    return value == NULL ? "" : value + 4;
}

static int list(const char *value, int64_t *numbers, int capacity)
{
    const char *end;
    return value[0] == '[' ? foreign_numbers(value + 1, ',', numbers, capacity, &end) : 0;
}

/* ---- One problem. */

/* nhwc where the channels lie closest. */
static cnn_layout layout_of(const cudnn_log *log)
{
    return log->x_strides[1] == 1 && log->x[1] > 1 ? CNN_NHWC : CNN_NCHW;
}

static cnn_status give(cudnn_log *log, problem_reader *reader, cnn_error *err)
{
    problem_words *const words = &log->words;
    const int rank = log->n_x - 2;
    const bool whole = log->n_x == log->n_w && log->n_x >= 4 && log->n_spatial == rank;
    desc_dims d = {.g = log->w[1] > 0 ? log->x[1] / log->w[1] : 1, .mb = log->x[0], .ic = log->x[1], .oc = log->w[0]};
    dims_axis *const axes[] = {&d.depth, &d.height, &d.width};
    log->open = false;
    if (!whole) return CNN_OK;
    for (int i = 0; i < rank; i++) {
        dims_axis *const a = axes[i + 3 - rank];
        *a = (dims_axis){.i = log->x[2 + i],
                         .k = log->w[2 + i],
                         .s = log->stride[i],
                         .p = log->pad[i],
                         .d = log->dilation[i] - 1,
                         .o = log->n_y == log->n_x ? log->y[2 + i] : 0};
    }
    if (log->groups > 0) d.g = log->groups;
    foreign_type(words, words->said.dtype ? words->type.dtype : CNN_DTYPE_COUNT, layout_of(log));
    words->no_bias = true;
    foreign_letters(&d, words->text);
    return problem_give(reader, words->text, words, err);
}

/* ---- Lines. */

static void take_type(cudnn_log *log, const char *value)
{
    static const char *const names[CNN_DTYPE_COUNT] = {[CNN_F32] = "CUDNN_DATA_FLOAT ",
                                                       [CNN_F64] = "CUDNN_DATA_DOUBLE ",
                                                       [CNN_F16] = "CUDNN_DATA_HALF ",
                                                       [CNN_BF16] = "CUDNN_DATA_BFLOAT16 "};
    int dtype = 0;
    while (dtype < CNN_DTYPE_COUNT && (names[dtype] == NULL || strncmp(value, names[dtype], strlen(names[dtype])) != 0))
        dtype++;
    if (dtype == CNN_DTYPE_COUNT)
        snprintf(log->words.why_not, sizeof log->words.why_not, "its type is %.*s", (int)strcspn(value, " ;"), value);
    log->words.said.dtype = true;
    log->words.type.dtype = dtype < CNN_DTYPE_COUNT ? (cnn_dtype)dtype : CNN_F32;
}

/* The paddings of the backend are called lower and upper; those of a call of old are the same on both sides. */
static void take_value(cudnn_log *log, const char *key, const char *value)
{
    const bool tensor = log->section == 'x' || log->section == 'w' || log->section == 'y';
    if (log->section == 0) return;
    if (tensor && (strcmp(key, "type") == 0 || strcmp(key, "dataType") == 0)) take_type(log, value);
    if (log->section == 'x' && strcmp(key, "dimA") == 0) log->n_x = list(value, log->x, 5);
    if (log->section == 'x' && strcmp(key, "strideA") == 0) list(value, log->x_strides, 5);
    if (log->section == 'w' && strcmp(key, "dimA") == 0) log->n_w = list(value, log->w, 5);
    if (log->section == 'y' && strcmp(key, "dimA") == 0) log->n_y = list(value, log->y, 5);
    if (log->section != 'c') return;
    if (strcmp(key, "mode") == 0) log->words.flip = strncmp(value, "CUDNN_CONVOLUTION", 17) == 0;
    if (strcmp(key, "padA") == 0 || strcmp(key, "lowerPadA") == 0) log->n_spatial = list(value, log->pad, 3);
    if (strcmp(key, "strideA") == 0) list(value, log->stride, 3);
    if (strcmp(key, "dilationA") == 0) list(value, log->dilation, 3);
    if (strcmp(key, "groupCount") == 0) log->groups = strtoll(value, NULL, 10);
}

/* What the lines below are about: "xDesc: type=...DESCRIPTOR:". */
static bool take_section(cudnn_log *log, const char *line, const char *key)
{
    const size_t length = strlen(key);
    if (length < 4 || strcmp(key + length - 4, "Desc") != 0) return false;
    const char first = key[0] == 'd' && length == 6 ? key[1] : key[0];
    log->section = strcmp(key, "convDesc") == 0 ? 'c' : length <= 6 && strchr("xwy", first) != NULL ? first : 0;
    return strstr(line, "val=") == NULL;
}

cnn_status cudnn_log_read(cudnn_log *log, problem_reader *reader, const char *line, cnn_error *err)
{
    char key[32];
    const char *value = value_of(line, key);
    if (!cudnn_log_is(line)) return log->open ? give(log, reader, err) : CNN_OK;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strstr(line, calls[i].name) == NULL) continue;
        const cnn_status status = log->open ? give(log, reader, err) : CNN_OK;
        *log = (cudnn_log){.words = {.op = CNN_OP_CONV, .said.dirs = 1u << calls[i].dir}, .open = true};
        return status;
    }
    if (log->open && !take_section(log, line, key)) take_value(log, key, value);
    return CNN_OK;
}
