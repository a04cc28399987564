/* fields.c: see problem.h. */
#include "names.h"
#include "op.h"

#include <ctype.h>
#include <string.h>

/* Where the sizes begin: behind the words and a colon, if there are any. */
static size_t sizes_at(const char *text)
{
    char words[CNN_PROBLEM_TEXT_MAX];
    size_t start = 0;
    return op_split_kind(text, words, sizeof words, &start) ? start : 0;
}

/* Whether the sizes have this letter: "sh" in "kh3sh2". A name takes the rest. */
static bool letter_given(const char *text, const char *letter)
{
    for (const char *at = text + sizes_at(text); *at != '\0' && *at != 'n';) {
        const char *word = at;
        while (isalpha((unsigned char)*at)) at++;
        if ((size_t)(at - word) == strlen(letter) && strncmp(word, letter, strlen(letter)) == 0) return true;
        if (at == word) at++;
    }
    return false;
}

/* Whether the words in front have this one: "lr" in "adam,lr=0.1:ic5". */
static bool word_given(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = text; at < text + sizes_at(text); at += strcspn(at, ",:") + 1)
        if (strncmp(at, word, length) == 0 && strchr("=,:", at[length]) != NULL) return true;
    return false;
}

typedef struct field_list {
    cnn_field *items;
    int count;
    const char *text;
} field_list;

static cnn_field *add(field_list *list, const char *name, bool given)
{
    cnn_field *f = &list->items[list->count++];
    *f = (cnn_field){.name = name, .given = given};
    return f;
}

static void put_size(field_list *list, const char *name, int64_t value)
{
    cnn_field *f = add(list, name, letter_given(list->text, name));
    snprintf(f->value, sizeof f->value, "%lld", (long long)value);
}

static void put_real(field_list *list, const char *name, double value)
{
    char room[TEXT_REAL_MAX];
    cnn_field *f = add(list, name, word_given(list->text, name));
    snprintf(f->value, sizeof f->value, "%s", text_real(value, room));
}

static void put_word(field_list *list, const char *name, const char *value, bool given)
{
    cnn_field *f = add(list, name, given);
    snprintf(f->value, sizeof f->value, "%s", value);
}

static void put_axis(field_list *list, char letter, const dims_axis *a, const char *right)
{
    static const char *const names[][6] = {{"id", "od", "kd", "sd", "pd", "dd"},
                                           {"ih", "oh", "kh", "sh", "ph", "dh"},
                                           {"iw", "ow", "kw", "sw", "pw", "dw"}};
    const int64_t values[6] = {a->i, a->o, a->k, a->s, a->p, a->d};
    for (int i = 0; i < 6; i++) put_size(list, names[letter == 'd' ? 0 : letter == 'h' ? 1 : 2][i], values[i]);
    put_size(list, right, a->p_r);
}

static void put_windows(field_list *list, const dims_axis *height, const dims_axis *width)
{
    put_axis(list, 'h', height, "ph_r");
    put_axis(list, 'w', width, "pw_r");
}

static void put_quantization(field_list *list, const cnn_problem *p)
{
    const cnn_quantization quant = cnn_quantization_of(p);
    if (!cnn_is_quantized(p->u.type.dtype)) return;
    put_size(list, "zx", quant.zero_x);
    put_size(list, "zy", quant.zero_y);
    put_size(list, "soc", quant.per_oc);
}

static void put_epilogue(field_list *list, const cnn_problem *p)
{
    const cnn_epilogue e = cnn_epilogue_of(p);
    char text[CNN_PROBLEM_TEXT_MAX] = "";
    if (!cnn_has_epilogue(p)) return;
    op_put_epilogue(text, &e);
    put_word(list, "epilogue", text, true);
}

static void put_conv(field_list *list, const cnn_problem *p)
{
    const cnn_conv_desc *d = &p->u.conv;
    const bool turned = p->op == CNN_OP_DECONV;
    dims_axis h = *OP_HEIGHT(d), w = *OP_WIDTH(d);
    if (turned) {
        h.i = d->oh, h.o = d->ih;
        w.i = d->ow, w.o = d->iw;
    }
    put_size(list, "g", d->g);
    put_size(list, "mb", d->mb);
    put_size(list, "ic", turned ? d->oc : d->ic);
    put_size(list, "oc", turned ? d->ic : d->oc);
    put_quantization(list, p);
    put_epilogue(list, p);
    if (p->op == CNN_OP_CONV3D) put_axis(list, 'd', OP_DEPTH(d), "pd_r");
    put_windows(list, &h, &w);
}

/* What stands before the sizes. */
static void put_words(field_list *list, const cnn_problem *p)
{
    const cnn_optimizer_desc *o = &p->u.optimizer;
    char text[CNN_FIELD_MAX] = "";
    switch (p->op) {
    case CNN_OP_POOL:
    case CNN_OP_POOL3D:
        put_word(list, "kind", cnn_pool_name(p->u.pool.kind), true);
        break;
    case CNN_OP_ACT:
        put_word(list, "kind", cnn_act_name(p->u.act.kind), true);
        put_real(list, "alpha", p->u.act.alpha);
        list->items[list->count - 1].given = strchr(list->text, '=') != NULL;
        break;
    case CNN_OP_LOSS:
        put_word(list, "kind", cnn_loss_name(p->u.loss.kind), strchr(list->text, ':') != NULL);
        break;
    case CNN_OP_DROPOUT:
        put_word(list, "inference", p->u.dropout.inference ? "yes" : "no", true);
        put_real(list, "rate", p->u.dropout.rate);
        list->items[list->count - 1].given = !p->u.dropout.inference;
        snprintf(text, sizeof text, "%llu", (unsigned long long)p->u.dropout.seed);
        put_word(list, "seed", text, word_given(list->text, "seed"));
        break;
    case CNN_OP_CONCAT:
        for (int i = 0; i < p->u.concat.n_inputs; i++)
            cnn_append(text, sizeof text, "%s%lld", i > 0 ? "+" : "", (long long)p->u.concat.ic[i]);
        put_word(list, "ic", text, true);
        break;
    case CNN_OP_BATCHNORM:
        put_word(list, "inference", p->u.batchnorm.inference ? "yes" : "no", word_given(list->text, "inference"));
        put_real(list, "eps", p->u.batchnorm.eps);
        put_real(list, "momentum", p->u.batchnorm.momentum);
        break;
    case CNN_OP_OPTIMIZER:
        put_word(list, "kind", cnn_optimizer_name(o->kind), true);
        put_real(list, "lr", o->lr);
        put_real(list, "beta1", o->beta1);
        put_real(list, "beta2", o->beta2);
        put_real(list, "eps", o->eps);
        put_real(list, "l1", o->l1);
        put_real(list, "l2", o->l2);
        put_real(list, "decay_steps", o->decay_steps);
        break;
    default:
        break;
    }
}

int cnn_problem_fields(const cnn_problem *p, const char *text, cnn_field fields[CNN_FIELDS_MAX])
{
    const op_place *at = &op_row_of(p->op)->at;
    const struct {
        const char *name;
        size_t at;
    } sizes[] = {{"mb", at->mb}, {"ic", at->ic}, {"ih", at->ih}, {"iw", at->iw}, {"oc", at->oc}};
    field_list list = {.items = fields, .text = text};
    put_words(&list, p);
    if (cnn_is_conv(p)) {
        put_conv(&list, p);
        return list.count;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        int64_t value;
        if (sizes[i].at == 0) continue;
        memcpy(&value, (const char *)p + sizes[i].at, sizeof value);
        put_size(&list, sizes[i].name, value);
    }
    put_quantization(&list, p);
    put_epilogue(&list, p);
    if (!cnn_is_pool(p)) return list.count;
    const cnn_pool_desc *d = &p->u.pool;
    put_size(&list, "ic", d->ic);
    if (p->op == CNN_OP_POOL3D) put_axis(&list, 'd', OP_DEPTH(d), "pd_r");
    put_windows(&list, OP_HEIGHT(d), OP_WIDTH(d));
    return list.count;
}
