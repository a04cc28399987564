/* peaks_record.c: ceilings as records of kind "peak", and back. */
#include "peaks.h"

#include "harness/problem/names.h"
#include "stats.h"

#include <math.h>
#include <string.h>

static const char *const units[] = {[CNN_PEAK_FLOPS] = "flop/s", [CNN_PEAK_BYTES] = "byte/s", [CNN_PEAK_SECONDS] = "s"};
enum { UNITS = sizeof units / sizeof units[0] };

const char *bench_peak_name(const bench_peak *peak, char *text, size_t size)
{
    const char *type = peak->unit != CNN_PEAK_FLOPS ? ""
                       : peak->math == CNN_MATH_F32 ? cnn_dtype_name(peak->dtype)
                                                    : cnn_math_name(peak->math);
    snprintf(text, size, "%s%s%s%s%s", peak->what, peak->variant[0] ? " " : "", peak->variant, type[0] ? " " : "",
             type);
    return text;
}

cnn_record *bench_peak_record(const bench_peak *peak)
{
    char marks[128];
    cnn_record *record = record_new("peak");
    record_text(record, "what", peak->what);
    record_text(record, "variant", peak->variant);
    if (peak->unit == CNN_PEAK_FLOPS) {
        record_text(record, "dtype", cnn_dtype_name(peak->dtype));
        record_text(record, "math", cnn_math_name(peak->math));
    }
    record_real(record, "value", peak->value);
    record_text(record, "unit", units[peak->unit]);
    record_real(record, "median", peak->median);
    record_int(record, "samples", peak->samples);
    record_text(record, "marks", bench_marks_text(peak->marks, marks, sizeof marks));
    if (peak->unit == CNN_PEAK_BYTES) record_int(record, "holds_bytes", peak->holds);
    record_text(record, "impl", peak->impl);
    record_text(record, "machine", peak->machine);
    record_int(record, "threads", peak->threads);
    return record;
}

static bool get_name(const cnn_record *record, const char *key, char *text, size_t size)
{
    const char *value = record_get_text(record, key);
    snprintf(text, size, "%s", value ? value : "");
    return value != NULL;
}

bool bench_record_type(const cnn_record *record, cnn_type *type)
{
    cnn_error err;
    const char *dtype = record_get_text(record, "dtype"), *math = record_get_text(record, "math");
    const int d = dtype ? cnn_name_find(&cnn_dtype_names, dtype, &err) : -1;
    const int m = math ? cnn_name_find(&cnn_math_names, math, &err) : -1;
    if (d < 0 || m < 0) return false;
    *type = (cnn_type){.dtype = (cnn_dtype)d, .math = (cnn_math)m};
    return true;
}

bool bench_peak_parse(const cnn_record *record, bench_peak *peak)
{
    const double threads = record_get_real(record, "threads"), holds = record_get_real(record, "holds_bytes");
    const double samples = record_get_real(record, "samples"), median = record_get_real(record, "median");
    int unit = 0;
    cnn_type type = {.dtype = CNN_F32};
    const char *kind = record_get_text(record, "kind"), *text = record_get_text(record, "unit");
    memset(peak, 0, sizeof *peak);
    if (!kind || strcmp(kind, "peak") != 0 || !text) return false;
    while (unit < UNITS && strcmp(units[unit], text) != 0) unit++;
    if (unit == UNITS) return false;
    peak->unit = (cnn_peak_unit)unit;
    if (!get_name(record, "what", peak->what, sizeof peak->what)) return false;
    if (!get_name(record, "machine", peak->machine, sizeof peak->machine)) return false;
    (void)get_name(record, "variant", peak->variant, sizeof peak->variant);
    (void)get_name(record, "impl", peak->impl, sizeof peak->impl);
    if (peak->unit == CNN_PEAK_FLOPS && !bench_record_type(record, &type)) return false;
    peak->dtype = type.dtype;
    peak->math = type.math;
    peak->value = record_get_real(record, "value");
    if (!(peak->value > 0) || !isfinite(peak->value)) return false;
    peak->median = isnan(median) ? peak->value : median;
    peak->marks = bench_marks_of(record_get_text(record, "marks"));
    if (threads >= 0 && threads < 1e6) peak->threads = (int)threads;
    if (holds >= 0 && holds < 1e18) peak->holds = (int64_t)holds;
    if (samples >= 0 && samples < 1e9) peak->samples = (int)samples;
    return true;
}

typedef struct peak_reader {
    bench_peaks *peaks;
    int found;
} peak_reader;

static cnn_status read_one(void *user, const cnn_record *record, cnn_error *err)
{
    peak_reader *reader = user;
    bench_peak peak;
    if (!bench_peak_parse(record, &peak)) return CNN_OK;
    reader->found++;
    return bench_peaks_add(reader->peaks, &peak, err);
}

cnn_status bench_peaks_read(bench_peaks *peaks, const char *path, cnn_error *err)
{
    int bad;
    peak_reader reader = {peaks, 0};
    const cnn_status status = record_read(path, read_one, &reader, &bad, err);
    if (status != CNN_OK) return status;
    snprintf(peaks->source, sizeof peaks->source, "%s", path);
    if (reader.found > 0) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s holds no ceilings: `benchcnn peaks --out FILE` writes them", path);
}
