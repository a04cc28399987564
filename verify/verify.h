/* verify.h: proving kernels right. For each (problem, direction, algorithm) of an implementation the checks of
 * checks.inc are run, and each gives one result through a callback.
 *
 *   verify_engine *engine;
 *   verify_open(impl, &session_params, &options, &engine, &err);
 *   verify_problem(engine, &problem, CNN_FWD, &algorithm, each, user, &err);
 *   verify_close(engine);
 */
#ifndef VERIFY_VERIFY_H
#define VERIFY_VERIFY_H

#include "harness/cnn.h"
#include "harness/device/impl.h"
#include "harness/net/net.h"
#include "harness/problem/names.h"
#include "harness/problem/problem.h"
#include "verify/oracle/result.h"

typedef enum verify_check {
#define CHECK(id, name, doc) VERIFY_##id,
#include "checks.inc"
#undef CHECK
    VERIFY_CHECK_COUNT
} verify_check;

const char *verify_check_name(verify_check check);
extern const cnn_name_set verify_check_names;

/* What stands for a check where `supports` said yes and nothing was checked all the same: `prepare` said UNSUPPORTED
 * (FAILED where that is not its to say); SKIPPED, since there is no room for the workspace that it asks for. */
extern const char verify_late_refusal[], verify_no_room[];
/* The name, in place of a check's, of the result that options.sums asks for. */
extern const char verify_sums_name[];

/* All arrays of a run whose results are wrong, in canonical order (n,c,h,w). */
typedef struct verify_failure {
    const verify_result *result;
    const cnn_operand *operands;
    int count;
    const double *before[CNN_MAX_OPERANDS];   /* NULL: an output that is replaced */
    const double *expected[CNN_MAX_OPERANDS]; /* NULL for inputs, `got` too */
    const double *got[CNN_MAX_OPERANDS];
} verify_failure;

typedef void verify_failed(void *user, const verify_failure *failure);

typedef void verify_each(void *user, const verify_result *result);

typedef struct verify_options {
    uint32_t checks;        /* mask of 1 << verify_check */
    uint64_t seed;          /* of all data */
    int reference_threads;  /* >= 1 */
    double reference_flops; /* larger ones are judged without the whole reference (huge.c); 0: the default, 1e10 */
    size_t most_workspace;  /* one that asks for more is SKIPPED; 0: as much as there is room for */
    bool all_bits;          /* the determinism check also asks about batch position and contexts */
    bool offload;           /* of a network: as trainer_params has it */
    bool recompute;         /* of a network: as trainer_params has it */
    bool fuse;              /* likewise */
    int64_t streams;        /* likewise */
    bool sums;              /* behind the checks, a result `sums`: how a result was added up (summation/) */
    verify_failed *failed;  /* (optional) gets the arrays of wrong results */
    void *failed_user;
    bool (*interrupted)(void);       /* (optional) asked between runs: true ends the case with CNN_INTERRUPTED */
    void (*alive)(void *alive_user); /* (optional) told between runs: it has come a step further */
    void *alive_user;
} verify_options;

typedef struct verify_engine verify_engine;

/* Opens its own session of `impl`, with settings that must outlive the engine (determinism opens more of them). */
cnn_status verify_open(const cnn_impl *impl, const cnn_session_params *params, const verify_options *options,
                       verify_engine **engine, cnn_error *err);
void verify_close(verify_engine *engine);
const cnn_session *verify_session(const verify_engine *engine);

/* Whether the host and the device have the memory that checking this takes at most: CNN_OUT_OF_MEMORY with the bytes
 * needed and free, CNN_OVERFLOW when a size cannot be held. */
cnn_status verify_room(const cnn_session *session, const cnn_problem *problem, cnn_dir dir, cnn_error *err);

/* All chosen checks. A failing kernel is a result, not an error; an error means that nothing could be said. Memory that
 * a check cannot have is a SKIPPED result; CNN_INTERRUPTED: the results given so far are not the whole case. */
cnn_status verify_problem(verify_engine *engine, const cnn_problem *problem, cnn_dir dir,
                          const cnn_algorithm *algorithm, verify_each *each, void *user, cnn_error *err);

/* The built-in descriptors (default_problems.inc), for which no file is needed; behind the last, a NULL text. */
typedef struct verify_default {
    cnn_op op;
    const char *text;
} verify_default;
extern const verify_default verify_defaults[];
/* Those whose sums are looked into: small, each sum of a hundred terms or so. */
extern const verify_default verify_sums_defaults[];
/* Convolutions for an implementation that does few of those, small first, kind of kernel by kind; and such with more
 * than four million results. The text of number 0, 1 ...; false behind the last. */
enum { VERIFY_MORE_MAX = 96 };
bool verify_more_text(int index, char text[VERIFY_MORE_MAX]);
bool verify_large_text(int index, char text[VERIFY_MORE_MAX]);

/* ---- Whole networks. */

/* Fills grads (net->param_elems, in the flat vector's order) with an implementation's gradients of the mean loss for
 * these parameters, images (n,c,h,w order whatever the layout) and labels, dropout at update 0. */
typedef cnn_status verify_net_gradient(void *user, const cnn_net *net, const double *params, const double *images,
                                       const int32_t *labels, double *grads, cnn_error *err);

/* Gradients of a whole network: the float64 reference's backward against central differences of its own loss, and
 * the implementation's against the reference's. Results have problem NULL. A `gradient` that
 * cannot be had is the only result: UNSUPPORTED, SKIPPED for want of memory, else FAILED. */
cnn_status verify_net(const cnn_net *net, const verify_options *options, verify_net_gradient *gradient,
                      void *gradient_user, verify_each *each, void *user, cnn_error *err);

/* The same with the gradients of a session's trainer, and where it is the implementation's own with its steps and tests
 * (network_steps.c); algorithm as in trainer_params. */
cnn_status verify_net_trained(const cnn_session *session, const cnn_network *network, const char *algorithm,
                              const verify_options *options, verify_each *each, void *user, cnn_error *err);

/* An implementation's trainer beside the composition, epoch by epoch; one result. */
/* How many workers a trainer of this row is verified with; 0: it does not train by exemplars. */
int64_t verify_net_workers(const cnn_algorithm *row, int64_t batch);
cnn_status verify_net_steps(const cnn_session *session, const cnn_network *network, const cnn_algorithm *algorithm,
                            const verify_options *options, verify_each *each, void *user, cnn_error *err);

/* dump.c: the arrays of a failure as .npy files. */
enum { DUMP_PATH_MAX = 512 };

/* Creates `dir` where it is missing. */
cnn_status dump_prepare(const char *dir, cnn_error *err);
/* Writes into a folder of its own in `dir`, whose path it gives: NAME.npy for every input, NAME_expected.npy (f64) and
 * NAME_got.npy for every output, command.txt with the command that repeats the case. */
cnn_status dump_failure(const char *dir, int number, const verify_failure *failure, const char *command,
                        char path[DUMP_PATH_MAX], cnn_error *err);

/* arrays.c: a user's own arrays through an implementation, and what came out against what the user expects. */

/* By operand, as cnn_operands() lists them; doubles in canonical order (n,c,h,w; weights as they stand). */
typedef struct verify_arrays {
    const double *in[CNN_MAX_OPERANDS];   /* inputs */
    double *out[CNN_MAX_OPERANDS];        /* outputs: filled by the run; of what is updated, those of `in` may be it */
    double *expect[CNN_MAX_OPERANDS];     /* (optional) outputs: what must come out (agreed NaN become 0), */
    cnn_dtype computed[CNN_MAX_OPERANDS]; /* and in which type that is held; */
    cnn_math math;                        /* in which arithmetic it was computed, */
    bool math_given;                      /* if anybody says so: else in that of its type */
    bool close;                           /* the result is held to |got - expected| <= atol + rtol*|expected| */
    double rtol, atol;
} verify_arrays;

/* Numbers that decide where a kernel reads (labels, a step) must be whole ones of their range: CNN_BAD_ARGUMENT, with
 * `what` for the array's name. */
cnn_status verify_array_values(const cnn_problem *problem, const cnn_operand *operand, const double *values,
                               const char *what, cnn_error *err);

/* One run in guarded buffers. What it writes where it must not is FAILED. Where something is expected, the results are
 * held to the float64 reference and to the expectation, whose own rounding is allowed for; `result` says which of the
 * two leaves the reference's bound, and in which precision the expectation was computed. Where they are held to a
 * tolerance (`close`) instead, nothing is asked of the expectation itself. */
cnn_status verify_run_arrays(verify_engine *engine, const cnn_problem *problem, cnn_dir dir,
                             const cnn_algorithm *algorithm, const verify_arrays *arrays, verify_result *result,
                             cnn_error *err);

#endif
