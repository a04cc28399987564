/* tuned_net.c: tuned choices for the layers of a network. */
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "tuned.h"

#include <stdlib.h>
#include <string.h>

typedef struct merged { /* "threads=V" or "impl.knob=V", and the time of the operation whose value it is */
    char text[CNN_NAME_MAX];
    double weight;
} merged;

typedef struct merge {
    tuned_net *net;
    merged list[1 + TUNING_SETTINGS];
    int count;
} merge;

/* The gradient of what the network is given is not computed. */
static bool is_run(const cnn_net *net, int layer, cnn_dir dir)
{
    const cnn_layer *l = &net->layers[layer];
    if (!(cnn_op_dirs(&l->problem) & 1u << dir)) return false;
    return dir != CNN_BWD_D || l->n_inputs > 1 || l->inputs[0] != 0;
}

static bool has_choice(const cnn_impl *impl, cnn_op op)
{
    int count = 0;
    for (int i = 0; i < impl->n_algorithms; i++) count += (impl->algorithms[i].ops >> op) & 1u;
    return count > 1;
}

static void say_conflict(tuned_book *t, const char *kept, const char *other)
{
    char line[4 * CNN_NAME_MAX];
    snprintf(line, sizeof line,
             "tuned: a network runs in one context: %.90s, as its slowest operation that cares has it, not %.90s", kept,
             other);
    tuned_say(t, line);
}

/* The heavier of two values. */
static cnn_status merge_setting(tuned_book *t, merge *m, const char *setting, double weight, cnn_error *err)
{
    const size_t name = strcspn(setting, "=") + 1;
    merged other = {.weight = weight};
    int i = 0;
    snprintf(other.text, sizeof other.text, "%s", setting);
    while (i < m->count && strncmp(m->list[i].text, setting, name) != 0) i++;
    if (i == 1 + TUNING_SETTINGS)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "tuned: more than %d knobs in one network", TUNING_SETTINGS);
    if (i == m->count) {
        m->list[m->count++] = other;
        return CNN_OK;
    }
    merged *kept = &m->list[i];
    const bool same = strcmp(kept->text, setting) == 0;
    if (weight > kept->weight) {
        const merged lighter = *kept;
        *kept = other;
        other = lighter;
    }
    if (!same) say_conflict(t, kept->text, other.text);
    return CNN_OK;
}

static cnn_status add(tuned_book *t, merge *m, const cnn_net *net, int layer, cnn_dir dir, const tuning_choice *choice,
                      cnn_error *err)
{
    tuned_net *r = m->net;
    const double weight = choice->median_s > 0 ? choice->median_s : 1e-12;
    char threads[32];
    snprintf(threads, sizeof threads, "threads=%d", tuning_threads(choice, r->session->impl, r->session->threads));
    cnn_status status = merge_setting(t, m, threads, weight, err);
    for (int i = 0; status == CNN_OK && i < choice->n_settings; i++)
        status = merge_setting(t, m, choice->settings[i], weight, err);
    snprintf(r->algorithms[layer][dir], CNN_NAME_MAX, "%s", choice->algorithm);
    cnn_append(r->text, sizeof r->text, "%s%s %s %s", r->text[0] != '\0' ? ", " : "", net->layers[layer].name,
               cnn_dir_name(dir), choice->algorithm);
    return status;
}

cnn_status tuned_for_net(tuned_book *t, const cnn_session *base, const cnn_net *net, tuned_net *r, cnn_error *err)
{
    merge m = {.net = r};
    cnn_status status = CNN_OK;
    memset(r, 0, sizeof *r);
    r->session = base;
    for (int layer = 0; layer < net->n_layers; layer++)
        for (int dir = 0; status == CNN_OK && dir < CNN_DIR_COUNT; dir++) {
            const cnn_problem *problem = &net->layers[layer].problem;
            const tuning_choice *choice;
            if (!is_run(net, layer, (cnn_dir)dir)) continue;
            tuned_find(t, base, problem, (cnn_dir)dir, !has_choice(base->impl, problem->op), &choice);
            if (choice) status = add(t, &m, net, layer, (cnn_dir)dir, choice, err);
        }
    if (status != CNN_OK || r->text[0] == '\0') return status;
    tuning_choice all = {.threads = atoi(strchr(m.list[0].text, '=') + 1), .n_settings = m.count - 1};
    for (int i = 0; i < all.n_settings; i++) snprintf(all.settings[i], CNN_NAME_MAX, "%s", m.list[i + 1].text);
    return tuned_session(t, base, &all, &r->session, err);
}

const char *tuned_layer(void *tuned, int layer, cnn_dir dir)
{
    const tuned_net *r = tuned;
    return r->algorithms[layer][dir][0] != '\0' ? r->algorithms[layer][dir] : NULL;
}
