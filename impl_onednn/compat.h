/* compat.h: the calls whose form differs between oneDNN 2.6 and 3.x, in one form. The rest of impl_onednn knows no
 * version.
 *
 * In 2.6 a memory descriptor is a struct, and a primitive descriptor is made in two calls; in 3.x the first is a
 * handle, and there is one call. Here a memory descriptor is a pointer, and each function makes one primitive
 * descriptor. compat_2.c or compat_3.c is built, as the headers are. */
#ifndef IMPL_ONEDNN_COMPAT_H
#define IMPL_ONEDNN_COMPAT_H

#include "harness/cnn.h"

#include <dnnl.h>
#include <dnnl_debug.h>

/* Whether the backward of batch normalisation wants to be handed the shift, which it does not read. */
#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t onednn_md;
enum { ONEDNN_BACKWARD_WANTS_SHIFT = 0 };
#else
typedef const dnnl_memory_desc_t *onednn_md;
enum { ONEDNN_BACKWARD_WANTS_SHIFT = 1 };
#endif

/* Of so many dimensions, stored as `tag` says; to be freed. */
dnnl_status_t onednn_md_make(int n_dims, const dnnl_dims_t dims, dnnl_data_type_t type, dnnl_format_tag_t tag,
                             onednn_md *md);
void onednn_md_free(onednn_md md);

/* A convolution, or a pooling without w and b; FC: the descriptors alone. Gradients stand in their values' places. */
typedef struct onednn_window {
    dnnl_alg_kind_t algorithm;
    onednn_md x, w, b, y; /* b may be NULL */
    dnnl_dims_t kernel, stride, dilation, left, right;
} onednn_window;

/* What all of them take. `forward`: the descriptor of the forward, where the backward must fit it. `takes` may be NULL;
 * of a forward of conv and FC it says whether a kernel will do, by its name: the first one is made of which it says
 * yes.
 */
typedef struct onednn_make {
    dnnl_engine_t engine;
    const_dnnl_primitive_attr_t attr;
    const_dnnl_primitive_desc_t forward;
    bool (*takes)(void *user, const char *kernel);
    void *user;
} onednn_make;

dnnl_status_t onednn_make_conv(const onednn_make *, cnn_dir, const onednn_window *, dnnl_primitive_desc_t *);
dnnl_status_t onednn_make_fc(const onednn_make *, cnn_dir, const onednn_window *, dnnl_primitive_desc_t *);
/* `keeps`: a forward that keeps for the backward where its maxima were. */
dnnl_status_t onednn_make_pool(const onednn_make *, cnn_dir, bool keeps, const onednn_window *,
                               dnnl_primitive_desc_t *);
/* x, y and their gradients all are stored as `md` says. */
dnnl_status_t onednn_make_act(const onednn_make *, cnn_dir, dnnl_alg_kind_t, onednn_md md, float alpha, float beta,
                              dnnl_primitive_desc_t *);
/* With scale and shift; in inference the statistics are given. */
dnnl_status_t onednn_make_batchnorm(const onednn_make *, cnn_dir, bool inference, onednn_md md, float eps,
                                    dnnl_primitive_desc_t *);
dnnl_status_t onednn_make_add(const onednn_make *, onednn_md md, dnnl_primitive_desc_t *);
dnnl_status_t onednn_append_sum(dnnl_post_ops_t);
dnnl_status_t onednn_append_eltwise(dnnl_post_ops_t, dnnl_alg_kind_t, float alpha, float beta);

/* The zero point of DNNL_ARG_SRC or DNNL_ARG_DST, which is an argument when it runs. */
dnnl_status_t onednn_set_zero_point(dnnl_primitive_attr_t, int arg);

/* ---- Of both versions. */

static inline bool onednn_takes(const onednn_make *m, const_dnnl_primitive_desc_t pd)
{
    const char *name = NULL;
    if (m->takes == NULL) return true;
    return dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, (void *)&name) == dnnl_success && name != NULL &&
           m->takes(m->user, name);
}

#endif
