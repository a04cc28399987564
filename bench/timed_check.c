/* timed_check.c: timed is verified: the outputs that the last timed run left are judged like any other. */
#include "measure.h"

#include <math.h>
#include <stdlib.h>

static cnn_status fetch(const cnn_session *session, const vf_case *c, int i, const void *buffer, double **values,
                        cnn_error *err)
{
    const cnn_operand *o = &c->call.operands[i];
    void *bytes = malloc(o->bytes);
    cnn_status status = CNN_OK;
    *values = malloc((size_t)o->count * sizeof **values);
    if (!bytes || !*values) status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to check %s", o->name);
    if (status == CNN_OK) status = cnn_mem_download(session, bytes, buffer, o->bytes, err);
    if (status == CNN_OK) vf_unpack(&c->problem, o, bytes, *values);
    free(bytes);
    return status;
}

/* The bound of a long sum is loose; its mean square tells arithmetic of fewer bits, as in verify's bound check. */
static void check_precision(const cnn_problem *problem, const vf_rounding *bounds, const vf_comparison *sums,
                            verify_result *result)
{
    if ((problem->op != CNN_OP_CONV && problem->op != CNN_OP_FC) || sums->rounded == 0) return;
    double count = (double)sums->rounded, rms = sqrt(sums->sum_sq / count), mean = sums->sum_sqrt_n / count;
    const char *name = vf_precision_name(rms / bounds->amplification, mean);
    snprintf(result->precision, sizeof result->precision, "%s", name);
    if (!(rms <= vf_rms_limit(bounds, mean)))
        vf_set(result, VERIFY_FAILED, "the results have the precision of %s", name);
}

cnn_status check_timed_outputs(const cnn_session *session, const cnn_algorithm *algorithm, const vf_case *c,
                               void *const *buffers, verify_result *result, cnn_error *err)
{
    vf_run run = {.fault = ""};
    cnn_status status = cnn_sync(session, err);
    for (int i = 0; status == CNN_OK && i < c->call.count; i++)
        if (c->after[i]) status = fetch(session, c, i, buffers[i], &run.after[i], err);
    if (status == CNN_OK) {
        vf_rounding bounds = vf_rounding_of(&c->problem, algorithm);
        *result = (verify_result){.session = session,
                                  .problem = &c->problem,
                                  .algorithm = algorithm->name,
                                  .dir = c->call.dir,
                                  .check = "timed",
                                  .state = VERIFY_PASSED,
                                  .budget_used = NAN};
        vf_comparison sums = {0};
        vf_judge(c, &run, &bounds, result, &sums);
        check_precision(&c->problem, &bounds, &sums, result);
    }
    vf_run_free(&run);
    return status;
}
