/* roofline.c: from records to points and roofs, and these as plots/roofline.gp draws them. */
#include "roofline.h"

#include "gnuplot.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "harness/record/identity.h"

#include <math.h>
#include <string.h>

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%.*s", (int)size - 1, from ? from : "");
}

/* The index of `text` in a list of `count`, added if it is new and there is room; -1 if there is none. */
static int index_of(char *list, size_t width, int *count, int most, const char *text)
{
    for (int i = 0; i < *count; i++)
        if (strncmp(list + (size_t)i * width, text, width - 1) == 0) return i;
    if (*count == most) return -1;
    copy_text(list + (size_t)*count * width, width, text);
    return (*count)++;
}

/* The host's threads matter to what a GPU does no more than in floor.c. */
static bool same_threads(const roofline *r, int threads) { return r->threads == 0 || r->threads == threads; }

/* Whether it is of the machine that is drawn: the first figure's. */
static bool same_machine(roofline *r, const char *machine, double threads)
{
    if (r->n_points == 0) {
        copy_text(r->machine, sizeof r->machine, machine);
        r->threads = strcmp(r->gpu, machine) == 0 ? 0 : (int)threads;
    }
    return strcmp(r->machine, machine) == 0 && same_threads(r, (int)threads);
}

static bool get_type(roofline *r, const cnn_record *record, char *text, size_t size)
{
    cnn_type type;
    if (!bench_record_type(record, &type)) return false;
    const cnn_type ceiling = bench_ceiling_type(&type);
    r->types[ceiling.dtype][ceiling.math] = true;
    const char *name = type.math != CNN_MATH_F32 ? cnn_math_name(type.math)
                       : type.dtype != CNN_F32   ? cnn_dtype_name(type.dtype)
                                                 : "";
    snprintf(text, size, "%s%s", name[0] ? ", " : "", name);
    return true;
}

/* Records of other machines are left out: one roof is drawn, and a point under another roof would mislead. */
static void add_point(roofline *r, const cnn_record *record, const char *kind, double median)
{
    const char *impl = record_get_text(record, "impl"), *algorithm = record_get_text(record, "algorithm");
    const char *machine = record_get_text(record, "machine"), *problem = record_get_text(record, "problem");
    const char *dir = record_get_text(record, "dir");
    char name[4 * CNN_NAME_MAX], type[32];
    const double flops = record_get_real(record, "flops"), bytes = record_get_real(record, "bytes");
    const double threads = record_get_real(record, "threads");
    cnn_error err;
    if (!impl || !algorithm || !machine || !problem || !dir || isnan(threads)) return;
    const int d = cnn_name_find(&cnn_dir_names, dir, &err);
    if (!(flops > 0 && bytes > 0) || d < 0) return; /* a copy has no place here */
    if (!same_machine(r, machine, threads) || r->n_points == ROOFLINE_POINTS_MAX) {
        r->left_out++;
        return;
    }
    if (!get_type(r, record, type, sizeof type)) return;
    snprintf(name, sizeof name, "%s:%s%s", impl, algorithm, type);
    const int s = index_of(r->series[0], sizeof r->series[0], &r->n_series, ROOFLINE_SERIES_MAX, name);
    record_problem_name(kind, problem, name, sizeof name);
    const int p = index_of(r->problems[0], sizeof r->problems[0], &r->n_problems, ROOFLINE_PROBLEMS_MAX, name);
    if (s < 0 || p < 0)
        r->left_out++;
    else
        r->points[r->n_points++] = (roofline_point){s, p, (cnn_dir)d, flops / bytes, flops / median};
}

static cnn_status take_record(void *user, const cnn_record *record, cnn_error *err)
{
    roofline *r = user;
    bench_peak peak;
    cnn_error unknown;
    const double median = record_get_real(record, "median_s");
    const char *kind = record_get_text(record, "kind");
    const char *gpu = record_get_inner_text(record, "implementation", "gpu");
    if (gpu) copy_text(r->gpu, sizeof r->gpu, gpu);
    if (bench_peak_parse(record, &peak)) return bench_peaks_add(&r->peaks, &peak, err);
    if (!kind || cnn_name_find(&cnn_op_names, kind, &unknown) < 0) return CNN_OK;
    if (median > 0) add_point(r, record, kind, median);
    return CNN_OK;
}

cnn_status roofline_read(roofline *r, const char *path, int *bad, cnn_error *err)
{
    return record_read(path, take_record, r, bad, err);
}

/* Of arithmetic in a type that occurs, done by the processor's or a library's loops; or of a memory. */
static bool is_ceiling(const roofline *r, const bench_peak *p)
{
    if (strcmp(p->machine, r->machine) != 0 || !same_threads(r, p->threads)) return false;
    return p->unit == CNN_PEAK_BYTES || (p->unit == CNN_PEAK_FLOPS && r->types[p->dtype][p->math] &&
                                         (strcmp(p->what, "fma") == 0 || strcmp(p->what, "gemm") == 0));
}

static bool same_kind(const bench_peak *p, const bench_peak *q)
{
    if (p->unit != q->unit) return false;
    return p->unit == CNN_PEAK_BYTES ? p->holds == q->holds
                                     : p->dtype == q->dtype && p->math == q->math && strcmp(p->what, q->what) == 0;
}

/* The highest ceiling of each kind is a roof: of arithmetic, the highest of which counts most; of memory and caches. */
static void add_roofs(roofline *r, cnn_peak_unit unit)
{
    roofline_roof *top = NULL;
    for (int i = 0; i < r->peaks.count && r->n_roofs < ROOFLINE_ROOFS_MAX; i++) {
        const bench_peak *p = &r->peaks.list[i];
        bool highest = p->unit == unit && is_ceiling(r, p);
        for (int k = 0; highest && k < r->peaks.count; k++) {
            const bench_peak *q = &r->peaks.list[k];
            if (same_kind(p, q) && is_ceiling(r, q) && (q->value > p->value || (q->value == p->value && k < i)))
                highest = false;
        }
        if (!highest) continue;
        roofline_roof *roof = &r->roofs[r->n_roofs++];
        *roof = (roofline_roof){.memory = unit == CNN_PEAK_BYTES, .value = p->value};
        bench_peak_name(p, roof->name, sizeof roof->name);
        if (roof->memory ? p->holds == 0 : !top || roof->value > top->value) top = roof;
    }
    if (top) top->main = true;
}

cnn_status roofline_make_roofs(roofline *r, cnn_error *err)
{
    char machine[2 * CNN_NAME_MAX], option[32] = "--impl NAME";
    if (r->n_points == 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "no figures of single operations: `benchcnn bench --out FILE` writes them");
    add_roofs(r, CNN_PEAK_FLOPS);
    add_roofs(r, CNN_PEAK_BYTES);
    int main = 0;
    for (int i = 0; i < r->n_roofs; i++) main += r->roofs[i].main;
    if (main == 2) return CNN_OK;
    if (r->threads > 0) snprintf(option, sizeof option, "--threads %d", r->threads);
    return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                    "no ceilings of %s in these files: `benchcnn peaks %s --out FILE` measures them",
                    roofline_machine(r, machine, sizeof machine), option);
}

const char *roofline_machine(const roofline *r, char *text, size_t size)
{
    snprintf(text, size, "%s", r->machine);
    if (r->threads > 0) cnn_append(text, size, ", %d thread%s", r->threads, r->threads == 1 ? "" : "s");
    return text;
}

/* ---- The picture: problems x algorithms under the measured roofs. */

enum { NUMBERS_MAX = 20 }; /* problems that are named; with more of them, none is */

/* The problem's number stands above its fastest point. */
static int number_of(const roofline *r, const roofline_point *p)
{
    for (int i = 0; i < r->n_points; i++)
        if (r->points[i].problem == p->problem && r->points[i].rate > p->rate) return 0;
    return p->problem + 1;
}

cnn_status roofline_picture(FILE *to, void *user, cnn_error *err)
{
    const roofline *r = user;
    const int named = r->n_problems <= NUMBERS_MAX ? r->n_problems : 0;
    char text[2 * CNN_NAME_MAX];
    fputs("$points << EOD\n", to);
    for (int i = 0; i < r->n_points; i++) {
        const roofline_point *p = &r->points[i];
        fprintf(to, "%.9g %.9g %d %d %d\n", p->intensity, p->rate, p->series, (int)p->dir, number_of(r, p));
    }
    fprintf(to, "EOD\nseries=%d\nroofs=%d\nproblems=%d\n", r->n_series, r->n_roofs, named);
    gnuplot_text(to, "machine", -1, roofline_machine(r, text, sizeof text));
    for (int i = 0; i < r->n_series; i++) gnuplot_text(to, "name", i, r->series[i]);
    for (int i = 0; i < named; i++) gnuplot_text(to, "problem", i, r->problems[i]);
    for (int i = 0; i < r->n_roofs; i++) {
        const roofline_roof *roof = &r->roofs[i];
        const bool tera = roof->value >= (roof->memory ? 1e12 : 1e13);
        snprintf(text, sizeof text, "%.100s  %.3g %s", roof->name, roof->value * (tera ? 1e-12 : 1e-9),
                 roof->memory ? (tera ? "TB/s" : "GB/s") : (tera ? "TFLOP/s" : "GFLOP/s"));
        gnuplot_text(to, "roof", i, text);
        fprintf(to, "memory%d=%d\nmain%d=%d\nvalue%d=%.9g\n", i, roof->memory, i, roof->main, i, roof->value);
    }
    (void)err;
    return CNN_OK;
}

void roofline_free(roofline *r) { bench_peaks_free(&r->peaks); }
