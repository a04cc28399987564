/* shrink.c: delta debugging. A failing case is made smaller by one move at a time, and a move is kept if the case
 * still fails in the same way; until no move is left that helps.
 *
 * A move takes a set of numbers of the descriptor together (all of them, an axis, input and output of an axis, one
 * alone) down to their least, half way there, or by one. Sets come first, since some failures need two sizes to agree.
 * Then what is not a number of the descriptor goes to its default: type, layout, bias, threads, each knob. Every kept
 * move makes the case smaller in one respect and larger in none, so this ends. */
#include "fuzz.h"

#include "harness/base/clock.h"
#include "harness/problem/shape.h"

#include <string.h>

#define AXIS_OF(first) (0x3Fu << (first))
#define BOTH(field) (1u << (FUZZ_IH + (field)) | 1u << (FUZZ_IW + (field)) | 1u << (FUZZ_ID + (field)))
enum { I, O, K, S, P, D };

static const uint32_t sets[] = {
    (1u << FUZZ_FIELDS) - 1,
    1u << FUZZ_MB | 1u << FUZZ_G | 1u << FUZZ_ICG | 1u << FUZZ_OCG,
    1u << FUZZ_ICG | 1u << FUZZ_OCG,
    AXIS_OF(FUZZ_IH) | AXIS_OF(FUZZ_IW) | AXIS_OF(FUZZ_ID),
    AXIS_OF(FUZZ_IH),
    AXIS_OF(FUZZ_IW),
    AXIS_OF(FUZZ_ID),
    BOTH(I) | BOTH(O),
    BOTH(I) | BOTH(O) | BOTH(K) | BOTH(P),
    BOTH(K) | BOTH(P),
    1u << FUZZ_IH | 1u << FUZZ_OH,
    1u << FUZZ_IW | 1u << FUZZ_OW,
    1u << FUZZ_ID | 1u << FUZZ_OD,
    1u << FUZZ_KH | 1u << FUZZ_PH,
    1u << FUZZ_KW | 1u << FUZZ_PW,
    1u << FUZZ_KD | 1u << FUZZ_PD,
    1u << FUZZ_IH | 1u << FUZZ_KH,
    1u << FUZZ_IW | 1u << FUZZ_KW,
    1u << FUZZ_ID | 1u << FUZZ_KD,
};
enum { SETS = sizeof sets / sizeof sets[0] };

typedef struct shrinking {
    fuzz_case *c;
    fuzz_fails *fails;
    void *user;
    fuzz_budget *budget;
} shrinking;

static bool may_try(const shrinking *s)
{
    const fuzz_budget *b = s->budget;
    return b->tried < b->tries && (b->until == 0.0 || cnn_now() < b->until) && (b->stop == NULL || !b->stop());
}

/* Keeps the candidate if it is valid and fails. */
static bool try_case(shrinking *s, const fuzz_case *candidate)
{
    cnn_error err;
    if (!may_try(s) || cnn_problem_check(&candidate->problem, &err) != CNN_OK) return false;
    s->budget->tried++;
    if (!s->fails(s->user, candidate)) return false;
    *s->c = *candidate;
    return true;
}

/* How far down: to the least, half way, by one. */
typedef enum step { TO_LEAST, HALF, BY_ONE, STEPS } step;

static int64_t lower(int64_t value, int64_t least, step how)
{
    const int64_t target = how == TO_LEAST ? least : how == HALF ? value - (value - least + 1) / 2 : value - 1;
    return target < least ? least : target;
}

/* The fields of the set, all at once. False: they are at their least already. */
static bool try_set(shrinking *s, uint32_t set, step how)
{
    fuzz_case candidate = *s->c;
    bool changed = false;
    for (int i = 0; i < FUZZ_FIELDS; i++) {
        int64_t *v = &candidate.shape.v[i];
        if (!(set >> i & 1u) || !fuzz_has(&candidate.problem, (fuzz_field)i, &s->c->shape)) continue;
        const int64_t target = lower(*v, fuzz_least((fuzz_field)i), how);
        changed = changed || target != *v;
        *v = target;
    }
    return changed && fuzz_build(&candidate.shape, &candidate.problem) && try_case(s, &candidate);
}

/* One round over all sets and single fields; whether anything became smaller. */
static bool shrink_numbers(shrinking *s)
{
    bool smaller = false;
    for (int i = 0; i < SETS + FUZZ_FIELDS; i++) {
        const uint32_t set = i < SETS ? sets[i] : 1u << (i - SETS);
        for (int how = TO_LEAST; how < STEPS; how++)
            while (try_set(s, set, (step)how)) smaller = true;
    }
    return smaller;
}

/* What is not a size: its default is what a command need not say. */
static bool shrink_settings(shrinking *s, const fuzz_space *space)
{
    enum { KNOBS = 11 }; /* from here on */
    const cnn_impl *impl = space->impls[s->c->impl];
    bool smaller = false;
    for (int i = 0; i < KNOBS + impl->n_knobs && i < KNOBS + FUZZ_MAX_KNOBS; i++) {
        fuzz_case to = *s->c;
        cnn_problem *p = &to.problem;
        cnn_quantization *quant = fuzz_quantization(p);
        cnn_epilogue *epilogue = fuzz_epilogue(p);
        if (i == 0 && cnn_is_conv(p)) p->u.conv.flip = false;
        if (i == 1 && cnn_is_conv(p)) p->u.conv.bias = true;
        if (i == 1 && p->op == CNN_OP_FC) p->u.fc.bias = true;
        if (i == 2) p->u.type.layout = CNN_NCHW;
        if (quant != NULL && i == 3) quant->zero_x = 0;
        if (quant != NULL && i == 4) quant->zero_y = 0;
        if (quant != NULL && i == 5) quant->per_oc = false;
        if (i == 6) p->u.type.dtype = p->u.type.weights = CNN_F32;
        if (quant != NULL && i == 6) quant->zero_x = quant->zero_y = 0, quant->per_oc = false;
        if (i == 7) p->u.type.math = CNN_MATH_F32;
        if (i == 8) to.threads = 1;
        if (epilogue != NULL && i == 9) epilogue->add = false;
        if (epilogue != NULL && i == 10) epilogue->act = CNN_ACT_IDENTITY, epilogue->alpha = 0.0;
        if (i >= KNOBS) to.knobs[i - KNOBS] = impl->knobs[i - KNOBS].def;
        if (memcmp(&to, s->c, sizeof to) != 0) smaller |= try_case(s, &to);
    }
    return smaller;
}

void fuzz_shrink(const fuzz_space *space, fuzz_case *c, fuzz_fails *fails, void *user, fuzz_budget *budget)
{
    shrinking s = {c, fails, user, budget};
    bool smaller = true;
    while (smaller && may_try(&s)) {
        smaller = shrink_numbers(&s);
        smaller = shrink_settings(&s, space) || smaller;
    }
}
