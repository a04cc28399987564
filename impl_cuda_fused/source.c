/* source.c: a network as the text that makes a version's kernels its own: struct NAME, which v2.h explains. */
#include "harness/base/text.h"
#include "impl_cuda_fused/fused.h"

#define ADD(...) cnn_append(text, size, __VA_ARGS__)

static void add_stage(char *text, size_t size, const fused_stage *s)
{
    ADD("        {%d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %af, %.17g, 0},\n", s->op,
        s->ic, s->ih, s->iw, s->oc, s->oh, s->ow, s->kh, s->kw, s->sh, s->sw, s->ph, s->pw, s->dh, s->dw,
        s->w >= 0 ? 0 : -1, s->b >= 0 ? 0 : -1, s->act, (double)s->alpha, s->rate);
}

void fused_source(const fused_net *net, const fused_layout *l, const char *name, char *text, size_t size)
{
    text[0] = '\0';
    ADD("struct %s {\n    static constexpr fused_stage stages[] = {\n", name);
    for (int i = 0; i < net->n_stages; i++) add_stage(text, size, &net->stages[i]);
    ADD("    };\n    static constexpr fused_place places[] = {\n");
    for (int i = 0; i <= net->n_stages; i++) {
        const fused_place *p = &l->places[i];
        ADD("        {%d, %d, %d, %d, %d, %d},\n", p->at, p->grad, p->cs, p->hs, p->ps, p->sw);
    }
    ADD("    };\n    static constexpr fused_cut cuts[] = {\n");
    for (int i = 0; i < net->n_stages; i++) {
        const fused_cut *k = &l->cuts[i];
        ADD("        {%d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d},\n", k->fc, k->fl, k->dc, k->dl, k->wo, k->wc,
            k->wt, k->wl, k->w, k->b, k->cs, k->is, k->rows);
    }
    ADD("    };\n    static constexpr int n = %d, threads = %d, slots = %d, floats = %d, staged = %d, image = %d, "
        "classes = %d;\n",
        net->n_stages, l->threads, l->slots, l->floats, l->staged, (int)net->elems[0], net->classes);
    ADD("    static constexpr bool nhwc = %s, quadratic = %s;\n};\n", net->nhwc ? "true" : "false",
        net->quadratic ? "true" : "false");
}

void fused_source_kernel(const fused_net *net, const fused_layout *l, const char *entry, char *text, size_t size)
{
    fused_source(net, l, "fused_this", text, size);
    ADD("extern \"C\" __global__ void __launch_bounds__(%d, 1) %s(fused_pass p)\n{\n"
        "    extern __shared__ float4 shared[];\n"
        "    fused_v2_pass<fused_this>(p, reinterpret_cast<float *>(shared));\n}\n",
        l->threads, entry);
}
