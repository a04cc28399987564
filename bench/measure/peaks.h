/* peaks.h: ceilings: what a device can do at best, measured through the slots peak_* of cnn.h, never quoted; their
 * records; and the floor that they put under an operation's time. */
#ifndef BENCH_MEASURE_PEAKS_H
#define BENCH_MEASURE_PEAKS_H

#include "harness/device/impl.h"
#include "harness/record/record.h"

/* The arithmetic whose ceiling holds for problems of a type. f16's and bf16's is that of units which multiply them and
 * add up in f32: the peaks of f32 data in math f16 and bf16, which are measured on such numbers. That of bytes,
 * whatever becomes of their sums, is that of u8:s8:s32. */
static inline cnn_type bench_ceiling_type(const cnn_type *t)
{
    cnn_type type = *t;
    const cnn_dtype factor = cnn_part_dtype(t->dtype, CNN_PART_FACTOR);
    if (factor == CNN_F16) type.math = CNN_MATH_F16;
    if (factor == CNN_BF16) type.math = CNN_MATH_BF16;
    if (type.math != t->math) type.dtype = type.weights = CNN_F32;
    if (factor == CNN_U8 || factor == CNN_S8) type.dtype = type.weights = CNN_U8_S8_S32;
    return type;
}

typedef struct bench_peak {
    char impl[CNN_NAME_MAX], machine[CNN_NAME_MAX], what[CNN_NAME_MAX], variant[CNN_NAME_MAX];
    cnn_peak_unit unit;
    cnn_dtype dtype; /* of operations */
    cnn_math math;
    int threads;
    int64_t holds;        /* of bytes: what the cache whose bandwidth this is holds; 0: memory */
    double value, median; /* the best sample, and the median one; by `unit` per second, or seconds */
    int samples;
    unsigned marks; /* BENCH_DISTURBED, BENCH_THROTTLED; BENCH_NOISY: its best rounds differ */
} bench_peak;

typedef struct bench_peaks {
    bench_peak *list;
    int count, capacity;
    char source[CNN_NAME_MAX + 32]; /* "measured at start", or the file */
} bench_peaks;

typedef struct peak_plan {
    double seconds;        /* for each round; a ceiling takes two to five of them, until the best ones agree */
    bool latencies;        /* those in seconds, too: no floor needs them */
    const cnn_type *types; /* of arithmetic, only what is done in one of these; NULL: all */
    int n_types;
    bool (*stop)(void);
    cnn_status (*each)(void *user, const bench_peak *peak, cnn_error *err); /* (optional) as each is known */
    void *user;
    const cnn_registry *registry; /* whose implementations are asked; NULL: those built in */
    /* (optional) Whose code is called from here on: the ceiling's with this index; its opening and closing (index -1);
     * nobody's (impl NULL). False: it is left out. */
    bool (*enter)(void *enter_user, const cnn_impl *impl, int index);
    void *enter_user;
} peak_plan;

/* All that the registry's implementations tell of the device that `like` is a session of, with its number of threads.
 * Of two that tell of the same, the better one is kept. None is no error. */
cnn_status bench_peaks_measure(bench_peaks *peaks, const cnn_session *like, const peak_plan *plan, cnn_error *err);
/* Whether it measures ceilings of that device. */
bool bench_peaks_teller(const cnn_impl *impl, const cnn_session *like);
/* Adds the records of kind "peak" of a file. CNN_BAD_ARGUMENT where it has none. */
cnn_status bench_peaks_read(bench_peaks *peaks, const char *path, cnn_error *err);
cnn_status bench_peaks_add(bench_peaks *peaks, const bench_peak *peak, cnn_error *err);
void bench_peaks_free(bench_peaks *peaks);

/* peaks_kept.c: adds the ceilings of `like`'s device that a run of this program on this machine has measured by such a
 * plan, within a day; how old they are, in seconds. False: there are none. */
bool bench_peaks_kept(bench_peaks *peaks, const cnn_session *like, const peak_plan *plan, double *age);
/* Keeps those of the device for the next run; where one is in doubt, none, and those of before are gone. What cannot be
 * written is measured again. */
void bench_peaks_keep(const bench_peaks *peaks, const cnn_session *like, const peak_plan *plan);
/* The file. */
bool bench_kept_path(const cnn_session *like, const peak_plan *plan, char *path, size_t size);

cnn_record *bench_peak_record(const bench_peak *peak);
bool bench_record_type(const cnn_record *record, cnn_type *type);  /* its dtype and math; false: it names none */
bool bench_peak_parse(const cnn_record *record, bench_peak *peak); /* false: not of kind "peak", or broken */
/* "fma avx512 f32", "read L2", "copy": what, variant, type. */
const char *bench_peak_name(const bench_peak *peak, char *text, size_t size);

/* An operation whose floor is asked for. */
typedef struct bench_work {
    const cnn_problem *problem;
    cnn_dir dir;
    bool cold;                      /* the caches */
    double took;                    /* seconds; infinite: not known */
    const cnn_algorithm *algorithm; /* a transform needs fewer products; NULL: not known */
} bench_work;

/* max(FLOPs / peak, compulsory bytes / bandwidth), a transform's FLOPs by what it saves at most, by the best ceilings
 * of the session's device and threads. Where the caches are not cold and one holds all the bytes, its bandwidth counts,
 * and memory's does not. What took less time than f32's own ceiling allows stands under a third of TF32's, if that is
 * higher. False where a ceiling is missing. */
typedef struct bench_floor {
    double seconds;
    unsigned marks;            /* that ceiling's */
    bool moves;                /* it is a bandwidth; else arithmetic */
    char by[3 * CNN_NAME_MAX]; /* which of the two it is, and the ceiling's name */
} bench_floor;
bool bench_floor_of(const bench_peaks *peaks, const cnn_session *session, const bench_work *work, bench_floor *floor);
/* The same with cold caches, of the device and threads that a ceiling is of: without a session, on any machine. */
bool bench_floor_cold(const bench_peaks *peaks, const bench_peak *device_of, const cnn_problem *problem, cnn_dir dir,
                      bench_floor *floor);

/* What an operation needs, as a record tells it: without its problem. */
typedef struct bench_need {
    cnn_type type;
    double flops, bytes; /* of a transform, what it needs at least */
    double took;         /* as in bench_work */
    bool cold;
} bench_need;
/* The same by the ceilings of a machine and a number of threads (0: a GPU's, of any number): of caches, those that
 * ceilings tell of count. */
bool bench_floor_recorded(const bench_peaks *peaks, const char *machine, int threads, const bench_need *need,
                          bench_floor *floor);

#endif
