/* separate_table.c: the table of an implementation as a message. The runner has checked it; here it is checked again,
 * for the code that was loaded there may send what it likes. */
#include "separate.h"

#include <stdlib.h>
#include <string.h>

/* More than may be: what is too long is still seen to be. */
enum { TEXT_MOST = 2048, ROWS_MOST = 1024 };

void separate_put_algorithms(wire_message *m, const cnn_algorithm *list, int count)
{
    for (int i = 0; i < count; i++) {
        wire_put(m, &list[i], sizeof list[i]);
        wire_put_text(m, list[i].doc, TEXT_MOST);
    }
}

void separate_take_algorithms(separate *s, wire_message *m, cnn_algorithm *list, int count)
{
    for (int i = 0; i < count; i++) {
        WIRE_TAKE(m, list[i]);
        list[i].doc = separate_keep(s, wire_take_text(m));
    }
}

/* ---- There. */

static bool is_trainer(const cnn_algorithm *a) { return a->ops == CNN_TRAINS; }

static separate_features features_of(const cnn_impl *impl)
{
    separate_features f = {.dtypes = impl->dtypes,
                           .device_kind = (int32_t)impl->device_kind,
                           .n_knobs = impl->n_knobs,
                           .describe = impl->describe != NULL,
                           .sync = impl->sync != NULL,
                           .prepare = impl->prepare != NULL,
                           .release = impl->release != NULL,
                           .enumerate = impl->enumerate != NULL,
                           .memory = impl->memory != NULL};
    for (int i = 0; i < impl->n_algorithms; i++) f.n_algorithms += !is_trainer(&impl->algorithms[i]);
#define HAS(slot, type) f.slots |= (uint32_t)(impl->ops->slot != NULL) << SEPARATE_##slot;
    CNN_SLOTS(HAS)
    CNN_BIAS_SLOTS(HAS)
#undef HAS
    return f;
}

void separate_put_table(wire_message *m, const cnn_impl *impl)
{
    const separate_features f = features_of(impl);
    wire_put_text(m, impl->name, TEXT_MOST);
    wire_put_text(m, impl->doc, TEXT_MOST);
    WIRE_PUT(m, f);
    for (int i = 0; i < impl->n_algorithms; i++)
        if (!is_trainer(&impl->algorithms[i])) separate_put_algorithms(m, &impl->algorithms[i], 1);
    for (int i = 0; i < impl->n_knobs; i++) {
        const cnn_knob *k = &impl->knobs[i];
        wire_put(m, k, sizeof *k);
        wire_put_text(m, k->name, TEXT_MOST);
        wire_put_text(m, k->doc, TEXT_MOST);
        wire_put(m, k->values, (size_t)k->n_values * sizeof *k->values);
    }
}

/* ---- Here. */

static cnn_status take_knob(separate *s, wire_message *m, cnn_knob *k, cnn_error *err)
{
    unsigned char of_context; /* any byte may come */
    WIRE_TAKE(m, *k);
    memcpy(&of_context, &k->of_context, 1);
    k->of_context = of_context != 0;
    k->name = separate_keep(s, wire_take_text(m));
    k->doc = separate_keep(s, wire_take_text(m));
    k->values = NULL;
    const int count = k->n_values;
    if (m->broken || count < 0 || count > ROWS_MOST)
        return CNN_FAIL(err, CNN_UNAVAILABLE, "the table that its process tells is none");
    int64_t *values = count > 0 ? calloc((size_t)count, sizeof *values) : NULL;
    if (count > 0 && values == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plug-in's table");
    if (count > 0) wire_take(m, values, (size_t)count * sizeof *values);
    k->values = values;
    return CNN_OK;
}

static cnn_status make_rows(separate *s, const separate_features *f, cnn_error *err)
{
    if (f->memory)
        return CNN_FAIL(err, CNN_UNAVAILABLE,
                        "it has memory of its own, a device's: in a process of its own (--separate) a plug-in has to "
                        "use the host's");
    if (f->n_algorithms < 0 || f->n_algorithms > ROWS_MOST || f->n_knobs < 0 || f->n_knobs > ROWS_MOST)
        return CNN_FAIL(err, CNN_UNAVAILABLE, "the table that its process tells is none");
    s->algorithms = calloc((size_t)f->n_algorithms + 1, sizeof *s->algorithms);
    s->knobs = calloc((size_t)f->n_knobs + 1, sizeof *s->knobs);
    if (s->algorithms != NULL && s->knobs != NULL) return CNN_OK;
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plug-in's table");
}

cnn_status separate_take_table(separate *s, wire_message *m, cnn_error *err)
{
    cnn_impl *impl = &s->copy.impl;
    separate_features f;
    *impl = (cnn_impl){.abi_version = CNN_ABI_VERSION, .struct_size = sizeof *impl, .ops = &s->copy.ops};
    s->copy.ops.struct_size = sizeof s->copy.ops;
    impl->name = separate_keep(s, wire_take_text(m));
    impl->doc = separate_keep(s, wire_take_text(m));
    WIRE_TAKE(m, f);
    cnn_status status = make_rows(s, &f, err);
    if (status != CNN_OK) return status;
    separate_take_algorithms(s, m, s->algorithms, f.n_algorithms);
    for (int i = 0; status == CNN_OK && i < f.n_knobs; i++) {
        status = take_knob(s, m, &s->knobs[i], err);
        impl->n_knobs = i + 1;
    }
    impl->device_kind = (cnn_device_kind)f.device_kind;
    impl->dtypes = f.dtypes;
    impl->algorithms = f.n_algorithms > 0 ? s->algorithms : NULL;
    impl->n_algorithms = f.n_algorithms;
    impl->knobs = f.n_knobs > 0 ? s->knobs : NULL;
    separate_put_slots(s, &f);
    if (status != CNN_OK || (unsigned)f.device_kind <= CNN_DEVICE_EMULATED) return status;
    return CNN_FAIL(err, CNN_UNAVAILABLE, "the table that its process tells is none");
}
