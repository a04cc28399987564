/* scaling_model.c: see scaling_model.h. R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication
 * Operations in MPICH, 2005: the times of sums by a ring and by trees, from latency and bandwidth of one message. */
#include "scaling_model.h"

#include <math.h>
#include <stdlib.h>

/* ---- Sums. */

/* How often ranks double until there are so many: how high a tree is. */
static int levels_of(int64_t over)
{
    int levels = 0;
    while (INT64_C(1) << levels < over) levels++;
    return levels;
}

/* The line is of small arrays by the way with the fewest messages one behind the other, of large ones by the way that
 * sends the fewest bytes: a tree, and a ring. Of two ranks both are the same. */
void scaling_model_link(scaling_model *m, const scaling_link *link)
{
    const double n = (double)link->ranks;
    m->link = link;
    m->hop_s = fmax(link->alpha_s, 0.0) / (2.0 * levels_of(link->ranks));
    m->bytes_per_s = link->bytes_per_s * 2.0 * (n - 1.0) / n;
}

double scaling_sum_s(const scaling_model *m, int64_t over)
{
    const double n = (double)over, transfer_s = m->bytes / m->bytes_per_s;
    if (over <= 1) return 0.0;
    const double ring = 2.0 * (n - 1.0) * m->hop_s + 2.0 * (n - 1.0) / n * transfer_s;
    const double tree = 2.0 * levels_of(over) * (m->hop_s + transfer_s);
    return fmin(ring, tree);
}

/* ---- Computing. */

void scaling_model_add(scaling_model *m, int64_t batch, double epoch_s)
{
    if (m->n_knots == SCALING_KNOTS_MAX) return;
    int at = m->n_knots++;
    for (; at > 0 && m->images[at - 1] > (double)batch; at--) {
        m->images[at] = m->images[at - 1];
        m->seconds[at] = m->seconds[at - 1];
    }
    m->images[at] = (double)batch;
    m->seconds[at] = epoch_s * (double)batch / (double)m->train_images;
}

/* Least squares of (fixed + images * image) / seconds - 1; neither may be less than nothing. */
void scaling_model_fit(scaling_model *m)
{
    double xx = 0.0, xy = 0.0, yy = 0.0, x1 = 0.0, y1 = 0.0;
    m->off = 0.0;
    for (int i = 0; i < m->n_knots; i++) {
        const double x = 1.0 / m->seconds[i], y = m->images[i] / m->seconds[i];
        xx += x * x, xy += x * y, yy += y * y, x1 += x, y1 += y;
    }
    const double det = xx * yy - xy * xy;
    m->fixed_s = m->n_knots > 1 ? (yy * x1 - xy * y1) / det : NAN;
    m->image_s = m->n_knots > 1 ? (xx * y1 - xy * x1) / det : NAN;
    if (m->fixed_s < 0.0) m->fixed_s = 0.0, m->image_s = y1 / yy;
    if (m->image_s < 0.0) m->image_s = 0.0, m->fixed_s = x1 / xx;
    for (int i = 0; i < m->n_knots && m->n_knots > 1; i++)
        m->off = fmax(m->off, fabs((m->fixed_s + m->images[i] * m->image_s) / m->seconds[i] - 1.0));
}

bool scaling_measured(const scaling_model *m, double images)
{
    return m->n_knots > 0 && images >= m->images[0] && images <= m->images[m->n_knots - 1];
}

double scaling_compute_s(const scaling_model *m, double images)
{
    const int last = m->n_knots - 1;
    if (last < 0) return NAN;
    const double *b = m->images, *s = m->seconds;
    if (images < b[0]) { /* the first knot stays where it is */
        const double fixed = fmin(m->fixed_s, s[0]);
        return last > 0 ? fixed + (s[0] - fixed) * images / b[0] : NAN;
    }
    int i = 0;
    while (i < last && images > b[i + 1]) i++;
    if (i < last) return s[i] + (s[i + 1] - s[i]) * (images - b[i]) / (b[i + 1] - b[i]);
    return images > b[last] ? s[last] + m->image_s * (images - b[last]) : s[last];
}

/* ---- Epochs. */

double scaling_epoch_s(const scaling_model *m, int64_t over, int64_t batch)
{
    const double images = (double)m->train_images;
    if (m->why_not[0] != '\0' || over > batch || batch > m->train_images) return NAN;
    return images / (double)batch * scaling_compute_s(m, (double)batch / (double)over) +
           ceil(images / (double)batch) * scaling_sum_s(m, over);
}

int64_t scaling_least(const scaling_model *m, int64_t batch, double *seconds)
{
    int64_t least = 0;
    *seconds = INFINITY;
    for (int64_t n = 1; n <= SCALING_RANKS_MOST; n++) {
        const double took = scaling_epoch_s(m, n, batch);
        if (took < *seconds) *seconds = took, least = n;
    }
    return least;
}
