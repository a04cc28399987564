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
        vf_note_transform(&c->problem, algorithm, result);
        vf_comparison sums = {0};
        vf_judge(c, &run, &bounds, result, &sums);
        vf_judge_precision(&c->problem, &bounds, &sums, result);
    }
    vf_run_free(&run);
    return status;
}
