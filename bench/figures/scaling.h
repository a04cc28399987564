/* scaling.h: from epochs over ranks to strong and weak scaling, beside a model of both (scaling_model.h). */
#ifndef BENCH_FIGURES_SCALING_H
#define BENCH_FIGURES_SCALING_H

#include "scaling_model.h"
#include "series.h"

/* A batch on a number of ranks, with buckets of one size: medians over the epochs. NaN: not known. */
typedef struct scaling_point {
    int64_t batch, ranks, threads; /* threads: of each rank */
    int64_t bucket;                /* of each sum; 0: one for all */
    double seconds, train_s;
    double step_s, alone_s;          /* a step's sum: in training, waits included; alone */
    double share;                    /* of the training, of either */
    double hidden;                   /* of the time that sums were under way: what operations took beside them */
    double strong, weak, efficiency; /* over one rank: with the same batch, with as many images a rank; strong, by how
                                        many times as many GPUs, or threads, there are */
    double model_s, model_off;       /* the model's epoch, and by what share of the measured one it is more */
    int epochs;
    unsigned marks;
} scaling_point;

/* What one implementation and algorithm trains: the batch, the ranks, the seed apart. */
typedef struct scaling_curve {
    epoch_setting setting; /* of its first row */
    char label[SERIES_LABEL_MAX], facts[SERIES_LABEL_MAX];
    scaling_point points[SERIES_POINTS_MAX]; /* by batch, then by ranks */
    int count;
    scaling_model model;
} scaling_curve;

typedef struct scaling_set {
    scaling_curve *list;
    int count;
    scaling_link *links;
    int n_links, links_capacity;
    char subtitle[SERIES_LABEL_MAX];    /* what all curves have in common */
    char first_date[16], last_date[16]; /* of the environments in the files: 2026-11-26; "": none */
} scaling_set;

/* Adds the epochs of a file to the table, and what sums take, with the dates, to the set. *bad as epoch_table_read().
 */
cnn_status scaling_read(scaling_set *set, epoch_table *table, const char *path, int *bad, cnn_error *err);
/* CNN_BAD_ARGUMENT where no epoch is over several ranks. */
cnn_status scaling_make(const epoch_table *table, scaling_set *set, cnn_error *err);
void scaling_free(scaling_set *set);
/* scaling_compare.c, for scaling_make(): of one curve the ratios to one rank and the model. way: how its ranks add up.
 */
void scaling_compare(const scaling_set *set, scaling_curve *c, const char *way);

static inline bool scaling_on_gpu(const epoch_setting *s) { return s->gpu[0] != '\0'; }
/* On n ranks; NULL where the curve has none. */
const scaling_point *scaling_point_at(const scaling_curve *c, int64_t batch, int64_t n);
/* The most ranks of any of its points. */
int64_t scaling_most_ranks(const scaling_curve *c);

/* scaling_record.c: a point as a record, of kind "scaling", for tables; what there is to say about a curve's model, in
 * lines, one behind the other in `text`. */
cnn_record *scaling_record(const scaling_curve *c, const scaling_point *p);
void scaling_model_text(const scaling_curve *c, char *text, size_t size);

/* scaling_picture.c: a gnuplot_put (gnuplot.h) of a scaling_set, for plots/ranks.gp: a row a curve, at most
 * SCALING_ROWS_MAX. */
enum { SCALING_ROWS_MAX = 6, SCALING_BATCHES_MAX = 6 };
cnn_status scaling_picture(FILE *to, void *set, cnn_error *err);
/* How many batches of the curve are not drawn: SCALING_BATCHES_MAX, the first and the last among them, are. */
int scaling_undrawn(const scaling_curve *c);

#endif
