/* scaling_compare.c: a curve's points beside those of one rank, and beside the model. */
#include "scaling.h"

#include <math.h>
#include <string.h>

static void set_ratios(scaling_curve *c)
{
    for (int i = 0; i < c->count; i++) {
        scaling_point *p = &c->points[i];
        const scaling_point *one = scaling_point_at(c, p->batch, 1);
        const scaling_point *part = p->batch % p->ranks == 0 ? scaling_point_at(c, p->batch / p->ranks, 1) : NULL;
        if (part != NULL) p->weak = part->seconds / p->seconds;
        if (one == NULL) continue;
        const bool count_ranks = scaling_on_gpu(&c->setting) || one->threads == 0;
        const double n = (double)p->ranks;
        p->strong = one->seconds / p->seconds;
        p->efficiency = p->strong / (count_ranks ? n : n * (double)p->threads / (double)one->threads);
    }
}

/* Of the same way on the same device, over the most ranks, and of these the latest. */
static const scaling_link *find_link(const scaling_set *set, const scaling_curve *c, const char *way)
{
    const char *machine = scaling_on_gpu(&c->setting) ? c->setting.gpu : c->setting.cpu;
    const scaling_link *found = NULL;
    for (int i = 0; i < set->n_links; i++) {
        const scaling_link *link = &set->links[i];
        if (strcmp(link->way, way) != 0 || strstr(link->device, machine) == NULL) continue;
        if (found == NULL || link->ranks >= found->ranks) found = link;
    }
    return found;
}

static void make_model(const scaling_set *set, scaling_curve *c, const char *way)
{
    scaling_model *m = &c->model;
    const scaling_link *link = find_link(set, c, way);
    bool alike = true;
    m->train_images = c->setting.train_images;
    for (int i = 0; i < c->count; i++) {
        const scaling_point *p = &c->points[i];
        if (p->ranks == 1 && m->train_images > 0) scaling_model_add(m, p->batch, p->seconds);
        alike = alike && (scaling_on_gpu(&c->setting) || p->threads == c->setting.threads);
    }
    scaling_model_fit(m);
    if (link != NULL) scaling_model_link(m, link);
    if (link == NULL)
        snprintf(m->why_not, sizeof m->why_not,
                 "no record says what sums by %.60s take between ranks: `mpirun -n N benchcnn peaks --impl %.60s --out "
                 "FILE` "
                 "measures it",
                 way[0] != '\0' ? way : "MPI", c->setting.impl);
    else if (m->n_knots == 0)
        snprintf(m->why_not, sizeof m->why_not, "no epoch of one rank: train with one, too");
    else if (!alike)
        snprintf(m->why_not, sizeof m->why_not,
                 "one rank has other numbers of threads than each of several: give all the same --threads");
    else if (!(m->bytes > 0))
        snprintf(m->why_not, sizeof m->why_not, "no record says how many bytes a step adds up");
    for (int i = 0; i < c->count; i++) {
        scaling_point *p = &c->points[i];
        if (p->ranks < 2) continue;
        p->model_s = scaling_epoch_s(m, p->ranks, p->batch);
        p->model_off = p->model_s / p->seconds - 1.0;
    }
}

void scaling_compare(const scaling_set *set, scaling_curve *c, const char *way)
{
    set_ratios(c);
    make_model(set, c, way);
}
