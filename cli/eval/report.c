/* report.c: heads and records of `eval` and `predict`. */
#include "harness/problem/names.h"
#include "parts.h"

void eval_print_head(const eval_run *r)
{
    const cnn_type *type = &r->network->net.type;
    if (r->options->json) return;
    printf("%s on %s, %s:%s, %s %s, weights %s (%s)\n", r->network->net.name, r->data.name, r->session->impl->name,
           r->algorithm, cnn_dtype_name(type->dtype), cnn_layout_name(type->layout), r->options->load, r->weights);
}

cnn_record *eval_record(const eval_run *r, const char *kind)
{
    const cnn_type *type = &r->network->net.type;
    cnn_record *record = record_new(kind);
    record_session(record, r->session, r->algorithm);
    record_text(record, "net", r->network->net.name);
    record_text(record, "weights", r->weights);
    record_text(record, "data", r->data.name);
    record_text(record, "dtype", cnn_dtype_name(type->dtype));
    record_text(record, "layout", cnn_layout_name(type->layout));
    record_text(record, "math", cnn_math_name(type->math));
    return record;
}

cnn_status eval_write_answer(const eval_run *r, const eval_answer *a, cnn_error *err)
{
    cnn_record *record = eval_record(r, "answer");
    record_int(record, "index", a->index);
    record_int(record, "target", a->target);
    record_int(record, "answer", a->answer);
    record_bool(record, "correct", a->answer == a->target);
    record_real(record, "probability", a->probability);
    record_real(record, "loss", a->loss);
    return record_write(r->output.sink, record, err);
}

const char *eval_answer_text(int answer, char text[16])
{
    if (answer < 0)
        snprintf(text, 16, "-");
    else
        snprintf(text, 16, "%d", answer);
    return text;
}
