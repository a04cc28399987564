/* round.c: `bench --round N`, which `bench --processes --together` starts: all candidates of a group in one process,
 * and the first of them once more. */
#include "parts.h"

/* Where memory lies may make a kernel faster, and is the same in each process for whoever gets it as the second, say:
 * so from round to round another one is first. */
static void rotate(candidate *list, int count, int by)
{
    for (; by > 0; by--) {
        const candidate first = list[0];
        for (int i = 1; i < count; i++) list[i - 1] = list[i];
        list[count - 1] = first;
    }
}

int bench_take_round(const bench *b, candidate *list, int count)
{
    const int64_t round = b->options->round;
    if (round == 0 || count == 0) return count;
    for (int i = 0; i < count; i++) list[i].arm = i == 0 ? "A" : "B";
    list[count] = list[0];
    list[count++].arm = "A'";
    rotate(list, count, (int)((round - 1) % count));
    return count;
}
