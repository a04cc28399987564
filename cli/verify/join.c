/* join.c: what several ranks have counted, added up. */
#include "report.h"

#include <string.h>

static void join_kinds(verify_sums *to, const verify_sums *from)
{
    for (int i = 0; i < FAILURE_KINDS && from->kinds[i].count > 0; i++) {
        int k = 0;
        while (k < FAILURE_KINDS - 1 && to->kinds[k].count > 0 &&
               strcmp(to->kinds[k].checks, from->kinds[i].checks) != 0)
            k++;
        if (to->kinds[k].count == 0) memcpy(to->kinds[k].checks, from->kinds[i].checks, sizeof to->kinds[k].checks);
        to->kinds[k].count += from->kinds[i].count;
    }
}

void report_join(verify_sums *to, const verify_sums *from)
{
    for (int state = 0; state <= VERIFY_FAILED; state++) to->cases[state] += from->cases[state];
    to->malformed += from->malformed;
    to->unrun += from->unrun;
    to->lines += from->lines;
    verify_reasons_join(&to->reasons, &from->reasons);
    verify_table_join(&to->table, &from->table);
    verify_patterns_join(&to->patterns, &from->patterns);
    join_kinds(to, from);
}
