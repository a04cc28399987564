/* compare_parts.h: what the files of `benchcnn compare` share: cmd_compare.c compares, compare_print.c shows it. */
#ifndef CLI_SHOW_COMPARE_PARTS_H
#define CLI_SHOW_COMPARE_PARTS_H

#include "bench/figures/compare.h"
#include "cli/cli.h"

typedef struct compare_run {
    const cli_options *options;
    double threshold, margin; /* margin: the threshold of fresh processes */
    uint32_t fail_on;         /* 1 << verdict; the bit beyond the last: unmatched figures */
    figure_choice choice;
    char across[256];
    const char *names[2]; /* A's and B's: a file's, or a value of what is compared across */
    figure_set sets[2];   /* A, B */
    record_sink *sink;
    int pairs;           /* of values; 1 of two files */
    compare_rates rates; /* of one file's fresh processes, all values */
    int matched, unmatched, single, fresh, verdicts[COMPARE_VERDICT_COUNT]; /* fresh: compared round by round */
} compare_run;

void compare_print_environments(const compare_run *c); /* what differs in those of two files */
void compare_print_figure(const figure *a, const figure *b, const comparison *r);
/* Figures that one side alone has, which are counted; what was passed over. */
void compare_print_unmatched(compare_run *c);
/* Nothing is in both: which fields have no value in common, and what to ask for to compare all the same. */
void compare_print_apart(const compare_run *c);
void compare_print_outcome(const compare_run *c);

#endif
