/* fields.c: the sizes that expressions name, and what a kernel can be asked for whose arguments lack one. A kernel with
 * no `dh` in its arguments computes without dilation: a problem that has one is refused, not failed. */
#include "impl_kernel/parts.h"

#include "harness/cnn/shape.h"

#include <string.h>

#define FIELD(name, field) name, offsetof(cnn_problem, u.field), sizeof(((cnn_problem *)NULL)->u.field)
/* Of a quantized result. */
#define QUANTIZATION(op)                                                                                               \
    {FIELD("zero_x", op.quant.zero_x), 0, NULL, NULL}, {FIELD("zero_y", op.quant.zero_y), 0, NULL, NULL},              \
    {                                                                                                                  \
        FIELD("per_oc", op.quant.per_oc), 0, NULL, NULL                                                                \
    }
#define ACTIVATION(op)                                                                                                 \
    {                                                                                                                  \
        FIELD("act", op.epilogue.act), 0, NULL, NULL                                                                   \
    }
#define AT(field) FIELD(#field, conv.field)
static const kernel_field conv_fields[] = {
    {AT(g), 1, NULL, NULL},   {AT(mb), -1, NULL, NULL},  {AT(ic), -1, NULL, NULL},  {AT(ih), -1, NULL, NULL},
    {AT(iw), -1, "ih", NULL}, {AT(oc), -1, NULL, NULL},  {AT(oh), -1, NULL, NULL},  {AT(ow), -1, "oh", NULL},
    {AT(kh), -1, NULL, NULL}, {AT(kw), -1, "kh", NULL},  {AT(sh), 1, NULL, NULL},   {AT(sw), 1, "sh", NULL},
    {AT(ph), 0, NULL, NULL},  {AT(pw), 0, "ph", NULL},   {AT(ph_r), 0, "ph", "oh"}, {AT(pw_r), 0, "pw", "oh"},
    {AT(dh), 0, NULL, NULL},  {AT(dw), 0, "dh", NULL},   QUANTIZATION(conv),        ACTIVATION(conv),
    {AT(id), 1, NULL, NULL},  {AT(od), 1, NULL, "id"},   {AT(kd), 1, NULL, NULL},   {AT(sd), 1, NULL, NULL},
    {AT(pd), 0, NULL, NULL},  {AT(pd_r), 0, "pd", "od"}, {AT(dd), 0, NULL, NULL},
};
#undef AT
#define AT(field) FIELD(#field, fc.field)
static const kernel_field fc_fields[] = {
    {AT(mb), -1, NULL, NULL}, {AT(ic), -1, NULL, NULL}, {AT(ih), 1, NULL, NULL}, {AT(iw), 1, NULL, NULL},
    {AT(oc), -1, NULL, NULL}, QUANTIZATION(fc),         ACTIVATION(fc),
};
#undef AT
enum { CONV3D_FIELDS = sizeof conv_fields / sizeof *conv_fields, CONV_FIELDS = CONV3D_FIELDS - 7 };

const kernel_field *kernel_fields(cnn_op op, int *count)
{
    *count = op == CNN_OP_FC       ? (int)(sizeof fc_fields / sizeof *fc_fields)
             : op == CNN_OP_CONV3D ? CONV3D_FIELDS
                                   : CONV_FIELDS;
    return op == CNN_OP_FC ? fc_fields : conv_fields;
}

static int64_t value_of(const kernel_field *field, const cnn_problem *problem)
{
    const char *at = (const char *)problem + field->offset;
    int64_t value;
    int16_t small;
    bool flag;
    int32_t number;
    if (field->size == sizeof number) return memcpy(&number, at, sizeof number), number;
    if (field->size == sizeof flag) return memcpy(&flag, at, sizeof flag), flag;
    if (field->size == sizeof small) return memcpy(&small, at, sizeof small), small;
    memcpy(&value, at, sizeof value);
    return value;
}

static const kernel_field *find_field(cnn_op op, const char *name, int *index)
{
    int count;
    const kernel_field *fields = kernel_fields(op, &count);
    for (*index = 0; *index < count; ++*index)
        if (strcmp(fields[*index].name, name) == 0) return &fields[*index];
    return NULL;
}

bool kernel_find_name(void *user, const char *name, int64_t *value)
{
    kernel_names *names = user;
    const kernel *k = names->k;
    const cnn_problem *p = names->problem;
    const bool conv = k->spec.op != CNN_OP_FC;
    int index;
    const kernel_field *field = find_field(k->spec.op, name, &index);
    *value = 1;
    if (field != NULL) {
        names->seen |= UINT32_C(1) << index;
        if (p != NULL) *value = value_of(field, p);
        return true;
    }
    for (int i = 0; i < k->spec.n_knobs; i++)
        if (strcmp(k->spec.knobs[i].name, name) == 0) {
            names->seen_knobs |= 1u << i;
            if (names->knobs != NULL) *value = names->knobs[i];
            return true;
        }
    if (strcmp(name, "threads") == 0) {
        if (p != NULL) *value = names->threads;
        return true;
    }
    if (!conv || strcmp(name, "flip") != 0) return false;
    names->seen |= UINT32_C(1) << KERNEL_FLIP_BIT;
    if (p != NULL) *value = p->u.conv.flip;
    return true;
}

/* ---- What its arguments do not name. */

static bool is_named(const kernel *k, const char *name)
{
    int index;
    return find_field(k->spec.op, name, &index) != NULL && k->named >> index & 1u;
}

/* The kernel knows the value: by this name, or as that of its twin. */
static bool is_known(const kernel *k, const kernel_field *field)
{
    int index;
    if (is_named(k, field->name)) return true;
    return field->twin != NULL && is_known(k, find_field(k->spec.op, field->twin, &index));
}

static cnn_status check_field(const kernel *k, const kernel_field *field, const cnn_problem *p, cnn_error *err)
{
    int index;
    if (is_named(k, field->name) || (field->unless != NULL && is_named(k, field->unless))) return CNN_OK;
    const int64_t value = value_of(field, p);
    const kernel_field *twin = field->twin != NULL ? find_field(k->spec.op, field->twin, &index) : NULL;
    if (twin != NULL && is_known(k, twin)) {
        if (value == value_of(twin, p)) return CNN_OK;
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s is not among --args, so it must equal %s: it is %lld, not %lld",
                        field->name, twin->name, (long long)value, (long long)value_of(twin, p));
    }
    if (field->neutral < 0 || value == field->neutral) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "%s is not among --args, so it must be %lld, not %lld", field->name,
                    (long long)field->neutral, (long long)value);
}

/* A residual is an array; an activation has a number, some have a parameter, too. */
static cnn_status check_epilogue(const kernel *k, const cnn_problem *p, cnn_error *err)
{
    const cnn_epilogue e = cnn_epilogue_of(p);
    if (e.add && kernel_array(k, "z") == NULL)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "z is not among --args: nothing is added to its sums");
    if (e.alpha == 0.0 || !is_named(k, "act") || k->takes[KERNEL_ALPHA]) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "alpha is not among --args: %s has a parameter", cnn_act_name(e.act));
}

cnn_status kernel_check_unnamed(const kernel *k, const cnn_problem *problem, cnn_error *err)
{
    int count;
    cnn_status status = check_epilogue(k, problem, err);
    const kernel_field *fields = kernel_fields(k->spec.op, &count);
    for (int i = 0; status == CNN_OK && i < count; i++) status = check_field(k, &fields[i], problem, err);
    if (status != CNN_OK || k->spec.op == CNN_OP_FC) return status;
    if (!problem->u.conv.flip || k->named >> KERNEL_FLIP_BIT & 1u) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "flip is not among --args: cross-correlation only");
}
