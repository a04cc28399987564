/* plot_kinds.c: which kinds of `plot` files hold records for. */
#include "harness/problem/names.h"
#include "parts.h"

#include <string.h>

enum { EPOCHS, GOALS, SWEEPS, OPERATIONS, CEILINGS, OTHERS, CHECKS, LATER, RANKS, PASSES, MUTANTS, WHATS };

typedef struct holding {
    int count[WHATS]; /* LATER: epochs behind the first of a training; RANKS: over several; PASSES: of a layer */
} holding;

static cnn_status take(void *user, const cnn_record *record, cnn_error *err)
{
    static const struct {
        const char *kind;
        int what;
    } kinds[] = {{"epoch", EPOCHS},   {"goal", GOALS},       {"sweep", SWEEPS},  {"peak", CEILINGS},
                 {"process", OTHERS}, {"benchmark", OTHERS}, {"verify", CHECKS}, {"kill", MUTANTS}};
    holding *h = user;
    cnn_error unknown;
    const char *kind = record_get_text(record, "kind");
    const bool timed = record_get_real(record, "median_s") > 0;
    (void)err;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        h->count[kinds[i].what] += strcmp(kind, kinds[i].kind) == 0;
    h->count[OPERATIONS] += timed && cnn_name_find(&cnn_op_names, kind, &unknown) >= 0;
    h->count[LATER] += strcmp(kind, "epoch") == 0 && record_get_real(record, "epoch") > 1;
    h->count[RANKS] += strcmp(kind, "epoch") == 0 && record_get_real(record, "ranks") > 1;
    h->count[PASSES] += strcmp(kind, "profile") == 0 && record_get_real(record, "bytes") > 0;
    return CNN_OK;
}

cnn_status cli_plot_kinds(const cli_options *o, const char *kinds[PLOT_KINDS_MAX], int *count, cnn_error *err)
{
    holding h = {.count = {0}};
    cnn_status status = CNN_OK;
    for (int i = 0; i < o->words.count && status == CNN_OK; i++) {
        int bad;
        status = record_read(o->words.items[i], take, &h, &bad, err);
    }
    const struct {
        const char *name;
        bool held;
    } all[PLOT_KINDS_MAX] = {{"", h.count[EPOCHS] > 0},
                             {"ranks", h.count[RANKS] > 0},
                             {"sweep", h.count[SWEEPS] > 1},
                             {"goals", h.count[GOALS] > 0},
                             {"bars", h.count[OPERATIONS] + h.count[OTHERS] > 0},
                             {"curves", h.count[LATER] > 0},
                             {"roofline", h.count[OPERATIONS] > 0 && h.count[CEILINGS] > 0},
                             {"floor", h.count[PASSES] > 0 && h.count[CEILINGS] > 0},
                             {"errors", h.count[CHECKS] > 0},
                             {"kills", h.count[MUTANTS] > 0}};
    *count = 0;
    for (int i = 0; i < PLOT_KINDS_MAX; i++)
        if (all[i].held) kinds[(*count)++] = all[i].name;
    return status;
}
