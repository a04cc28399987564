/* foreign.h: problems as other programs write them, put into our words. Internal to harness/problem/.
 *
 * Each reader has a file of its own: benchdnn.c (descriptors and the options between them), onednn_verbose.c,
 * cudnn_log.c, miopen.c, pytorch.c, google_benchmark.c. What one cannot put into our words it says in `why_not`. */
#ifndef HARNESS_PROBLEM_FOREIGN_H
#define HARNESS_PROBLEM_FOREIGN_H

#include "dims.h"
#include "problem.h"

#include <regex.h>

typedef struct problem_words {
    cnn_op op;                       /* CNN_OP_COUNT: there is no such operation here */
    char text[CNN_PROBLEM_TEXT_MAX]; /* the descriptor */
    cnn_problem_said said;
    cnn_type type; /* as far as it is said */
    bool no_bias, flip;
    int64_t mb; /* not 0: the batch, whatever the descriptor says */
    char why_not[160];
} problem_words;

/* Ends in a problem, or in a sentence why there is none (problem_file.c). `shown` is the text as the file has it. */
typedef struct problem_reader problem_reader;
cnn_status problem_give(problem_reader *reader, const char *shown, const problem_words *words, cnn_error *err);
/* The same for what is no problem at all. */
cnn_status problem_refuse(problem_reader *reader, const char *shown, const char *why, cnn_error *err);

/* Numbers as a descriptor of a convolution or of pooling: those that are not 0; of strides, paddings and dilations
 * those that are not negative. */
void foreign_letters(const desc_dims *dims, char text[CNN_PROBLEM_TEXT_MAX]);
/* The type, as `said`, of a data type and a layout; CNN_DTYPE_COUNT, CNN_LAYOUT_COUNT: not said. */
void foreign_type(problem_words *words, cnn_dtype dtype, cnn_layout layout);
/* Whole numbers between separators, "64,3,7,7" or "2x3x4", until something else comes; how many. */
int foreign_numbers(const char *text, char separator, int64_t *numbers, int capacity, const char **end);

/* ---- benchdnn.c, benchdnn_options.c. */

/* What its options hold: sets of values, as bits, each as far as this program can do it. */
typedef enum benchdnn_set {
    SET_DIR,
    SET_DT,
    SET_SDT,
    SET_DDT,
    SET_TAG,
    SET_STAG,
    SET_DTAG,
    SET_WTAG,
    SET_MATH,
    SET_ALG,
    SET_FLAGS,
    SET_POST_OPS,
    SET_SCALES,
    SET_POINTS,
    SET_STRIDES,
    SET_OTHER,
    BENCHDNN_SETS
} benchdnn_set;

enum { BENCHDNN_UNSAID = 31, BENCHDNN_ALPHAS = 8, BENCHDNN_POINTS = 16 }; /* the bit of an option that was not given */
enum { BENCHDNN_FWD_B, BENCHDNN_FWD, BENCHDNN_BWD_D, BENCHDNN_BWD_W, BENCHDNN_BWD_WB, BENCHDNN_BWD_DW };
enum { BENCHDNN_ANY, BENCHDNN_NCHW, BENCHDNN_NHWC }; /* of tags */
enum { BENCHDNN_STATISTICS, BENCHDNN_GLOBAL };       /* of --flags */
enum {
    BENCHDNN_COMMON,
    BENCHDNN_DST,
    BENCHDNN_PER_OC
}; /* of --attr-scales, as bits: one of dst, one for each channel */
enum { BENCHDNN_RELU_DST = CNN_ACT_COUNT, BENCHDNN_KINDS }; /* of --alg, behind the activations */

/* An epilogue; of its residual the zero point and the type, CNN_NUMBER_COUNT: not said. */
typedef struct benchdnn_post_ops {
    cnn_epilogue epilogue;
    int zero;
    cnn_dtype dtype;
} benchdnn_post_ops;

typedef struct benchdnn {
    const char *driver; /* "conv" ...; NULL: not said, `op` is what words are then */
    cnn_op op;          /* CNN_OP_COUNT: none here does what the driver does */
    uint32_t sets[BENCHDNN_SETS];
    char missing[BENCHDNN_SETS][128]; /* the last "--dt=bf16" that cannot be done */
    double alphas[BENCHDNN_ALPHAS];
    int n_alphas;
    struct {
        int x, y;
    } points[BENCHDNN_POINTS]; /* of --attr-zero-points: its values, as the bits that they are */
    int n_points;
    benchdnn_post_ops epilogues[BENCHDNN_POINTS]; /* of --attr-post-ops, likewise */
    int n_epilogues;
    int64_t mb;
    regex_t match;
    bool matches;
} benchdnn;

void benchdnn_reset(benchdnn *state);
void benchdnn_close(benchdnn *state);
/* A driver by its name, "conv", which is a folder's name, too; false: it is none. */
bool benchdnn_driver(benchdnn *state, const char *name);
/* "--dt=f32,bf16". What cannot be done is told by problem_give(), value by value. */
cnn_status benchdnn_option(benchdnn *state, problem_reader *reader, const char *word, cnn_error *err);
/* All problems that a descriptor stands for under the options. */
cnn_status benchdnn_problems(const benchdnn *state, problem_reader *reader, const char *word, cnn_error *err);

/* ---- Lines of other programs. Whether this is one; then what it says. */

bool onednn_verbose_is(const char *line);
cnn_status onednn_verbose_read(problem_reader *reader, const char *line, cnn_error *err);
bool miopen_is(const char *line);
cnn_status miopen_read(problem_reader *reader, const char *line, cnn_error *err);
bool pytorch_is(const char *line);
cnn_status pytorch_read(problem_reader *reader, const char *line, cnn_error *err);

enum { GOOGLE_COLUMNS = 16 };
typedef struct google_benchmark { /* names of the columns, of the last ArgNames */
    char names[GOOGLE_COLUMNS][8];
    int count;
} google_benchmark;
bool google_benchmark_is(const char *line);
cnn_status google_benchmark_read(google_benchmark *state, problem_reader *reader, const char *line, cnn_error *err);

typedef struct cudnn_log { /* what was read of a call: it ends with an empty line */
    problem_words words;
    int64_t x[5], x_strides[5], w[5], y[5], pad[3], pad_right[3], stride[3], dilation[3], groups;
    int n_x, n_w, n_y, n_spatial;
    char section; /* 'x', 'w', 'y', 'c' for the convolution, 0 for others */
    bool open;
} cudnn_log;
bool cudnn_log_is(const char *line);
cnn_status cudnn_log_read(cudnn_log *state, problem_reader *reader, const char *line, cnn_error *err);

#endif
