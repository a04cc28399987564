/* source.c: a network as the text that makes a version's kernels its own: struct NAME, which v2.h and v3.h explain. */
#include "harness/base/text.h"
#include "impl_cuda_fused/spread.h"

#define ADD(...) cnn_append(text, size, __VA_ARGS__)

static void add_stage(char *text, size_t size, const fused_stage *s)
{
    ADD("        {%d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %af, %.17g, 0},\n", s->op,
        s->ic, s->ih, s->iw, s->oc, s->oh, s->ow, s->kh, s->kw, s->sh, s->sw, s->ph, s->pw, s->dh, s->dw,
        s->w >= 0 ? 0 : -1, s->b >= 0 ? 0 : -1, s->act, (double)s->alpha, s->rate);
}

static void add_stages(const fused_net *net, const fused_place *places, const char *name, char *text, size_t size)
{
    ADD("struct %s {\n    static constexpr fused_stage stages[] = {\n", name);
    for (int i = 0; i < net->n_stages; i++) add_stage(text, size, &net->stages[i]);
    ADD("    };\n    static constexpr fused_place places[] = {\n");
    for (int i = 0; i <= net->n_stages; i++) {
        const fused_place *p = &places[i];
        ADD("        {%d, %d, %d, %d, %d, %d},\n", p->at, p->grad, p->cs, p->hs, p->ps, p->sw);
    }
    ADD("    };\n");
}

static void add_loss(const fused_net *net, char *text, size_t size)
{
    ADD("    static constexpr bool nhwc = %s, quadratic = %s;\n};\n", net->nhwc ? "true" : "false",
        net->quadratic ? "true" : "false");
}

static void add_kernel(int threads, const char *entry, const char *pass, char *text, size_t size)
{
    ADD("extern \"C\" __global__ void __launch_bounds__(%d, 1) %s(fused_pass p)\n{\n"
        "    extern __shared__ float4 shared[];\n"
        "    %s<fused_this>(p, reinterpret_cast<float *>(shared));\n}\n",
        threads, entry, pass);
}

void fused_source(const fused_net *net, const fused_layout *l, const char *name, char *text, size_t size)
{
    text[0] = '\0';
    add_stages(net, l->places, name, text, size);
    ADD("    static constexpr fused_cut cuts[] = {\n");
    for (int i = 0; i < net->n_stages; i++) {
        const fused_cut *k = &l->cuts[i];
        ADD("        {%d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d},\n", k->fc, k->fl, k->dc, k->dl, k->wo, k->wc,
            k->wt, k->wl, k->w, k->b, k->cs, k->is, k->rows);
    }
    ADD("    };\n    static constexpr int n = %d, threads = %d, slots = %d, floats = %d, staged = %d, image = %d, "
        "classes = %d, cluster = 1, mail = 0;\n",
        net->n_stages, l->threads, l->slots, l->floats, l->staged, (int)net->elems[0], net->classes);
    add_loss(net, text, size);
}

void fused_source_kernel(const fused_net *net, const fused_layout *l, const char *entry, char *text, size_t size)
{
    fused_source(net, l, "fused_this", text, size);
    add_kernel(l->threads, entry, "fused_v2_pass", text, size);
}

void fused_spread_source(const fused_net *net, const fused_spread *l, const char *name, char *text, size_t size)
{
    text[0] = '\0';
    add_stages(net, l->places, name, text, size);
    ADD("    static constexpr fused_tile tiles[] = {\n");
    for (int i = 0; i < net->n_stages; i++) {
        const fused_tile *k = &l->tiles[i];
        ADD("        {%d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d},\n", k->fc,
            k->fl, k->dc, k->dl, k->wo, k->wc, k->wt, k->wl, k->w, k->cs, k->is, k->b, k->wb, k->fs, k->bs, k->grads,
            k->rows, k->box, k->slot, k->bslot, k->piece);
    }
    ADD("    };\n    static constexpr int n = %d, threads = %d, cluster = %d, first = %d, forward = %d, weights = %d, "
        "slots = %d,\n                         mail = %d, staged = %d, laps = %d, floats = %d, image = %d, "
        "classes = %d;\n",
        net->n_stages, l->threads, l->cluster, l->first, l->forward, l->weights, l->slots, l->mail, l->staged, l->laps,
        l->floats, (int)net->elems[0], net->classes);
    add_loss(net, text, size);
}

void fused_spread_kernel(const fused_net *net, const fused_spread *l, const char *entry, char *text, size_t size)
{
    fused_spread_source(net, l, "fused_this", text, size);
    add_kernel(l->threads, entry, "fused_v3_pass", text, size);
}
