/* speedup_record.c: a speedup as a record, for tables. */
#include "speedup.h"

static void record_side(cnn_record *record, const speedup_figure *f, bool base)
{
    record_text(record, base ? "baseline_machine" : "machine", f->machine);
    if (!f->gpu) record_int(record, base ? "baseline_threads" : "threads", f->threads);
    record_int(record, base ? "baseline_repetitions" : "repetitions", f->repetitions);
    record_real(record, base ? "baseline_s" : "seconds", f->seconds);
}

cnn_record *speedup_record(const speedup *row)
{
    const speedup_figure *f = row->own;
    char baseline[2 * CNN_NAME_MAX], marks[128];
    cnn_record *record = record_new("speedup");
    snprintf(baseline, sizeof baseline, "%s:%s", row->base->impl, row->base->algorithm);
    record_text(record, "impl", f->impl);
    record_text(record, "algorithm", f->algorithm);
    record_text(record, f->epoch ? "net" : "problem", f->problem);
    if (f->epoch) {
        record_int(record, "batch", f->batch);
        record_text(record, "data_on", f->epoch->data_on);
    }
    record_text(record, "op", f->op);
    record_text(record, "dir", f->dir);
    record_text(record, "cache", f->cache);
    record_text(record, "dtype", f->dtype);
    record_text(record, "layout", f->layout);
    record_text(record, "math", f->math);
    record_side(record, f, false);
    record_text(record, "baseline", baseline);
    record_side(record, row->base, true);
    record_real(record, "speedup", row->ratio);
    record_real(record, "speedup_low", row->low);
    record_real(record, "speedup_high", row->high);
    record_real(record, "transfer_s", f->transfer_s);
    record_real(record, "speedup_with_transfers", row->moved);
    record_real(record, "images_per_s", f->images_per_s);
    record_text(record, "marks", bench_marks_text(row->marks, marks, sizeof marks));
    return record;
}
