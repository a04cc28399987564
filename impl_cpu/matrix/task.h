/* task.h: a task of cpu:matrix, and how it sees the operands: between conv.c, operands.c and share.c. */
#ifndef IMPL_CPU_MATRIX_TASK_H
#define IMPL_CPU_MATRIX_TASK_H

#include "matrix.h"

typedef struct mx_run {
    const mx_plan *m;
    const cnn_weighted_args *a;
    char *workspace;
    cnn_laps *laps;
    cpu_epilogue epilogue;
} mx_run;

/* A matrix in memory: a group's first element, and the steps along its two axes; the axis of pixels has a list. */
enum { MX_PIXELS = -1 };
typedef struct mx_matrix {
    char *p;
    const mx_tensor *tensor;
    int64_t step[2];
} mx_matrix;

/* Of C[m x n] = sum over k of A[m x k] B[n x k]. */
typedef struct mx_operands {
    mx_matrix a, b, c;
    const char *bias; /* of a group's channels; NULL: none */
} mx_operands;
mx_operands mx_operands_of(const mx_run *, int64_t group, int64_t part);

/* A task, and what its worker has for it. */
typedef struct mx_task {
    const mx_plan *m;
    mx_operands o;
    int64_t m0, rows, n0, cols, k0, terms; /* terms: of this block */
    char *a, *b, *c;
    const char *shared_a, *shared_b; /* of the task's first row or column and its block of K; NULL: not shared */
    int64_t *lists[2];               /* pixels of x and dx, of y and dy */
} mx_task;
void mx_list_pixels(const mx_task *, int64_t first, int64_t count);

/* A matrix from an element on; along the axis of pixels that is the lists' first. */
typedef struct mx_view {
    char *p;
    mx_axis axis[2];
} mx_view;
mx_view mx_view_at(const mx_task *, const mx_matrix *, int64_t first, int64_t second);
/* Panels of A, or of B, from lane `first` on. */
void mx_pack_lanes(const mx_task *, const mx_view *from, int64_t first, int64_t lanes, int64_t width, char *to);

/* share.c: what several tasks read is packed once, before them. */
void mx_share(const cpu_context *, const mx_run *);
/* Where a task's part of it is. */
void mx_find_shared(const mx_run *, mx_task *, int64_t group);

#endif
