/* explain.h: the changes that explain.c tries. */
#ifndef VERIFY_EXPLAIN_H
#define VERIFY_EXPLAIN_H

#include "engine.h"

/* Makes the change in a copy of a case; false: there is nothing to change. `earlier`: the data of the first call. */
typedef bool vf_change(vf_case *c, const vf_case *earlier);

#define EXPLAIN(change, words) vf_change vf_change_##change;
#include "explanations.inc"
#undef EXPLAIN

#endif
