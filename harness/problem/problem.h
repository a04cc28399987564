/* problem.h: text <-> problem.
 *
 * Convolutions use benchdnn's descriptor grammar (conv_desc.c). The other operations reuse its dimension letters, with
 * what the letters cannot say in front, up to a colon:
 *   conv       mb100ic20ih16oc20oh8kh4sh2ph4dh2n"thesis_conv2"
 *   conv3d     mb2ic8id9oc16kd3pd1           (a cube; or id, ih and iw ...; a conv with these letters is one, too)
 *   fc         mb100ic20ih4oc10
 *              (of quantized results, conv, conv3d and fc: mb2ic20ih16oc8kh3zx3zy-5soc1: the zero points of x and y; a
 *              scale for each output channel)
 *              (an epilogue, of the same three, in front: relu:mb2ic20ih16oc8kh3, add+relu:..., add+leaky_relu=0.1:...;
 *              add: z, an array like y, is added)
 *   pool       max:mb2ic16ih8kh2sh2          (avg, avg_pad, global_avg; sizes deduced as for conv)
 *   pool3d     max:mb2ic8id9kd3sd2pd1        (a cube, as of conv3d; a pool with these letters is one, too)
 *   act        leaky_relu=0.01:mb2ic20ih16   (a kind without =alpha takes its default)
 *   loss       mb100ic10
 *   dropout    0.2:mb2ic20ih16               (inference:mb2ic20ih16; options: 0.2,seed=7:mb2ic20ih16)
 *   add        mb2ic20ih16
 *   concat     3+5+7:mb2ih16                 (channels of each input)
 *   batchnorm  mb8ic20ih16                   (inference:mb8ic20ih16, eps=0.001,momentum=0.3:mb8ic20ih16)
 *   deconv     mb8ic64ih8oc32kh4sh2ph1       (transposed: ih is its input's, oh = (ih-1)*sh - 2*ph + kernel's extent)
 *   optimizer  adam:ic1000                   (ic counts the parameters; options after the kind as for --optimizer:
 *                                             adam,lr=0.001,l2=0.0001:ic1000)
 */
#ifndef HARNESS_PROBLEM_PROBLEM_H
#define HARNESS_PROBLEM_PROBLEM_H

#include "harness/cnn.h"

enum { CNN_PROBLEM_TEXT_MAX = 512 };

/* What a text that names no others means. */
#define CNN_DROPOUT_RATE 0.5 /* of inference, where it does nothing */
#define CNN_DROPOUT_SEED 1
#define CNN_BATCHNORM_EPS 1e-5
#define CNN_BATCHNORM_MOMENTUM 0.1

/* What the text does not say: on the command line these are options, in records fields of their own. */
typedef struct cnn_problem_defaults {
    cnn_type type;
    bool no_bias, flip;
    int64_t mb;            /* not 0: the batch, whatever the text says (--mb) */
    cnn_epilogue epilogue; /* of conv, conv3d and fc whose text names none (--epilogue) */
} cnn_problem_defaults;

/* Parses and checks (cnn_problem_check). An error marks the position: the sentence holds the text and a caret column.
 */
cnn_status cnn_problem_parse(cnn_op op, const char *text, const cnn_problem_defaults *defaults, cnn_problem *problem,
                             cnn_error *err);

/* Nothing for an optimizer, which has no batch. */
void cnn_problem_set_batch(cnn_problem *problem, int64_t mb);
/* "relu", "add", "add+leaky_relu=0.1": an epilogue without a descriptor. */
cnn_status cnn_epilogue_parse(const char *text, cnn_epilogue *epilogue, cnn_error *err);
/* What an activation's text that gives no number means; 0: the kind takes none. */
double cnn_act_default_alpha(cnn_act_kind kind);

/* The canonical text, which parses back to the same problem, given its type, bias and flip as defaults; deduced sizes
 * that the text reproduces are left out. */
void cnn_problem_format(const cnn_problem *problem, char text[CNN_PROBLEM_TEXT_MAX]);
/* The problem without what decides nothing about how it runs, its name and the dropout's seed: two layers that do the
 * same work have the same text then. */
cnn_problem cnn_problem_work(const cnn_problem *problem);

/* Every field of a problem, by the letters or the option that a descriptor has for it (ph_r and pw_r: the padding below
 * and on the right), and whether the text that it was read from gives it, or it was deduced. How many. */
enum { CNN_FIELDS_MAX = 32, CNN_FIELD_MAX = 192 };
typedef struct cnn_field {
    const char *name;
    char value[CNN_FIELD_MAX];
    bool given;
} cnn_field;
int cnn_problem_fields(const cnn_problem *problem, const char *text, cnn_field fields[CNN_FIELDS_MAX]);

/* What a file says of a problem beside its descriptor. */
typedef struct cnn_problem_said {
    uint32_t dirs;            /* 1 << CNN_FWD ...; 0: nothing */
    bool dtype, layout, math; /* that of problem->u.type is the file's */
} cnn_problem_said;

/* A problem file: benchdnn's, unchanged, with the options that stand in them and the files that these name; oneDNN's
 * verbose lines; cuDNN's log; command lines of MIOpenDriver; PyTorch's texts of layers, with letters behind for the
 * size of the input (`Conv2d(...) mb8ih56`); sources with the ArgNames and Args of Google Benchmark. Else white space
 * separates descriptors, '#' at the start of a word comments out the rest of the line.
 *
 * `op` is the operation of words that do not say theirs; op_given: of all, so that a word of another is an error.
 * Calls `each` for every problem that can be done; with problem == NULL and the error for what cannot be
 * (CNN_UNSUPPORTED), or is no problem (its message starts with FILE:LINE). `op` is its operation then, CNN_OP_COUNT for
 * one that there is not. Returns CNN_IO if the file cannot be read; a status other than CNN_OK from `each` stops and is
 * returned. */
typedef cnn_status cnn_problem_each(void *user, const char *text, cnn_op op, const cnn_problem_said *said,
                                    const cnn_problem *problem, cnn_error *err);
cnn_status cnn_problem_file(const char *path, cnn_op op, bool op_given, const cnn_problem_defaults *defaults,
                            cnn_problem_each *each, void *user, cnn_error *err);
/* One line as it may stand in such a file. False: it is no other program's. */
bool cnn_problem_line(const char *line, const cnn_problem_defaults *defaults, cnn_problem_each *each, void *user,
                      cnn_status *status, cnn_error *err);

/* Sets the optimizer's kind and options from "adam,lr=0.001,beta1=0.9,...", defaults for what is not named. */
cnn_status cnn_optimizer_parse(const char *text, cnn_optimizer_desc *desc, cnn_error *err);
void cnn_optimizer_format(const cnn_optimizer_desc *desc, char text[CNN_PROBLEM_TEXT_MAX]);

#endif
