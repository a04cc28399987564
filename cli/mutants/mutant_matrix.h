/* mutant_matrix.h: what the runs of the mutants tell: the kill matrix, checks x mutants, as a table and as Markdown. */
#ifndef CLI_MUTANTS_MUTANT_MATRIX_H
#define CLI_MUTANTS_MUTANT_MATRIX_H

#include "mutant_runs.h"

/* "Few": a check's own mutant is one that at most so many other checks catch. */
enum { MATRIX_FEW = 2 };

typedef struct matrix_check {
    int caught, alone;     /* mutants; those that no other check catches */
    const mutant_run *own; /* the one that the fewest others catch */
    int others;
} matrix_check;

typedef struct matrix_sums {
    int mutants, killed, crashed, hung, survived, broken, controls, controls_held;
    matrix_check checks[VERIFY_CHECK_COUNT];
} matrix_sums;

bool mutant_killed(const mutant_run *run);
void matrix_sum(const mutant_run *runs, int count, matrix_sums *sums);

void matrix_print(FILE *to, const mutant_run *runs, int count);
void matrix_print_sums(FILE *to, const matrix_sums *sums);
/* Whether a file at `path`, if there is one, is an older matrix: asked before the runs, which take minutes. */
cnn_status matrix_check_file(const char *path, cnn_error *err);
cnn_status matrix_write(const char *path, const mutant_run *runs, int count, const matrix_sums *sums, cnn_error *err);

#endif
