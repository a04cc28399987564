/* aliases.c: gradients that are copies of one another become one buffer.
 *
 * The gradient of a sum is that of each of its inputs (backward.c copies it). The copy is needed only if one of the two
 * is changed while the other is still read. */
#include "parts.h"

static bool uses(const step_call *call, size_t buffer)
{
    for (int i = 0; i < call->n_operands; i++)
        if (call->at[i] == buffer) return true;
    return false;
}

static bool writes(const step_call *call, size_t buffer)
{
    for (int i = 0; i < call->n_operands; i++)
        if (call->at[i] == buffer && (call->written & 1u << i) != 0) return true;
    return false;
}

static bool used_from(const call_list *list, int first, size_t buffer)
{
    for (int i = first; i < list->count; i++)
        if (uses(&list->calls[i], buffer)) return true;
    return false;
}

/* From the call that first changes one of them on, nothing may use the other. */
static bool may_be_one(const call_list *list, int copy)
{
    const size_t from = list->calls[copy].at[0], to = list->calls[copy].at[1];
    for (int i = copy + 1; i < list->count; i++) {
        const bool changes_from = writes(&list->calls[i], from), changes_to = writes(&list->calls[i], to);
        if (changes_from && used_from(list, i, to)) return false;
        if (changes_to && used_from(list, i, from)) return false;
        if (changes_from || changes_to) return true;
    }
    return true;
}

void step_take_out_copies(call_list *list)
{
    int kept = 0;
    for (int i = 0; i < list->count; i++) {
        const step_call *call = &list->calls[i];
        const bool copy = call->plan < 0 && step_is_buffer(call->at[0]) && step_is_buffer(call->at[1]);
        if (!copy || !may_be_one(list, i)) {
            list->calls[kept++] = list->calls[i];
            continue;
        }
        const size_t from = call->at[0], to = call->at[1];
        for (int k = i + 1; k < list->count; k++)
            for (int o = 0; o < list->calls[k].n_operands; o++)
                if (list->calls[k].at[o] == to) list->calls[k].at[o] = from;
    }
    list->count = kept;
}
