/* It has two algorithms, an honest one and one named "*,loops:" that gives zeros, which nobody can ask for by
 * itself. */
#include "shared/cheat.h"

static const cnn_algorithm algorithms[] = {
    {.name = "loops", .doc = "honest", .ops = HONEST_OPS, .flags = CNN_ALGO_DETERMINISTIC, .amplification = 1},
    {.name = "*,loops:", .doc = "zeros", .ops = HONEST_OPS, .amplification = 1, .id = 1},
    {.name = "", .doc = "zeros", .ops = HONEST_OPS, .amplification = 1, .id = 1}};

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return plan->algorithm.id == 1 ? answer_zero(c, plan, a, err) : honest_weighted(c, plan, a, err);
}

static void cheat(tables *t)
{
    weighted(t, trick);
    t->impl.algorithms = algorithms, t->impl.n_algorithms = 3;
}
CHEAT(names_with_commas_and_stars)
