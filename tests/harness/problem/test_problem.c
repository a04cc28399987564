/* test_problem.c: descriptors. What benchdnn deduces is written here by hand from the rules of its documentation. */
#include "tests/unit.h"

#include "harness/problem/problem.h"
#include "harness/problem/shape.h"

#include <stdio.h>

static const cnn_problem_defaults defaults = {.type = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32}};

static cnn_status parse(cnn_op op, const char *text, cnn_problem *problem, cnn_error *err)
{
    return cnn_problem_parse(op, text, &defaults, problem, err);
}

/* All fields in turn, each exact; the bytes between them hold anything. */
enum { FIELDS_MAX = 32 };
#define FIELDS(...)                                                                                                    \
    do {                                                                                                               \
        const long double list[] = {__VA_ARGS__};                                                                      \
        memcpy(fields, list, sizeof list);                                                                             \
    } while (0)

static void list_fields(const cnn_problem *p, long double fields[FIELDS_MAX])
{
    const cnn_conv_desc *c = &p->u.conv;
    const cnn_fc_desc *f = &p->u.fc;
    const cnn_pool_desc *m = &p->u.pool;
    const cnn_act_desc *a = &p->u.act;
    const cnn_dropout_desc *d = &p->u.dropout;
    const cnn_concat_desc *j = &p->u.concat;
    const cnn_batchnorm_desc *b = &p->u.batchnorm;
    const cnn_optimizer_desc *o = &p->u.optimizer;
    memset(fields, 0, FIELDS_MAX * sizeof *fields);
    switch (p->op) {
    case CNN_OP_CONV:
    case CNN_OP_DECONV:
        FIELDS(c->g, c->mb, c->ic, c->ih, c->iw, c->oc, c->oh, c->ow, c->kh, c->kw, c->sh, c->sw, c->ph, c->pw, c->ph_r,
               c->pw_r, c->dh, c->dw, c->bias, c->flip, c->quant.zero_x, c->quant.zero_y, c->quant.per_oc);
        break;
    case CNN_OP_CONV3D:
        FIELDS(c->g, c->mb, c->ic, c->ih, c->iw, c->oc, c->oh, c->ow, c->kh, c->kw, c->sh, c->sw, c->ph, c->pw, c->ph_r,
               c->pw_r, c->dh, c->dw, c->bias, c->flip, c->id, c->od, c->kd, c->sd, c->pd, c->pd_r, c->dd,
               c->quant.zero_x, c->quant.zero_y, c->quant.per_oc);
        break;
    case CNN_OP_FC:
        FIELDS(f->mb, f->ic, f->ih, f->iw, f->oc, f->bias, f->quant.zero_x, f->quant.zero_y, f->quant.per_oc);
        break;
    case CNN_OP_POOL:
        FIELDS(m->kind, m->mb, m->ic, m->ih, m->iw, m->oh, m->ow, m->kh, m->kw, m->sh, m->sw, m->ph, m->pw, m->ph_r,
               m->pw_r, m->dh, m->dw);
        break;
    case CNN_OP_POOL3D:
        FIELDS(m->kind, m->mb, m->ic, m->ih, m->iw, m->oh, m->ow, m->kh, m->kw, m->sh, m->sw, m->ph, m->pw, m->ph_r,
               m->pw_r, m->dh, m->dw, m->id, m->od, m->kd, m->sd, m->pd, m->pd_r, m->dd);
        break;
    case CNN_OP_ACT:
        FIELDS(a->kind, a->alpha, a->mb, a->ic, a->ih, a->iw);
        break;
    case CNN_OP_LOSS:
        FIELDS(p->u.loss.mb, p->u.loss.ic);
        break;
    case CNN_OP_DROPOUT:
        FIELDS(d->rate, d->seed, d->inference, d->mb, d->ic, d->ih, d->iw);
        break;
    case CNN_OP_ADD:
        FIELDS(p->u.add.mb, p->u.add.ic, p->u.add.ih, p->u.add.iw);
        break;
    case CNN_OP_CONCAT:
        FIELDS(j->mb, j->ih, j->iw, j->n_inputs, j->ic[0], j->ic[1], j->ic[2], j->ic[3]);
        break;
    case CNN_OP_BATCHNORM:
        FIELDS(b->eps, b->momentum, b->inference, b->mb, b->ic, b->ih, b->iw);
        break;
    case CNN_OP_OPTIMIZER:
        FIELDS(o->kind, o->count, o->lr, o->beta1, o->beta2, o->eps, o->l1, o->l2, o->decay_steps);
        break;
    case CNN_OP_COUNT:
        fail();
    }
}

static void expect_same(const cnn_problem *a, const cnn_problem *b, const char *text)
{
    long double of_a[FIELDS_MAX], of_b[FIELDS_MAX];
    list_fields(a, of_a);
    list_fields(b, of_b);
    assert_int_equal(a->op, b->op);
    assert_string_equal(a->name, b->name);
    assert_memory_equal(&a->u.type, &b->u.type, sizeof a->u.type);
    for (int i = 0; i < FIELDS_MAX; i++)
        if (of_a[i] != of_b[i]) fail_msg("%s: field %d is %.20Lg, not %.20Lg", text, i, of_b[i], of_a[i]);
}

typedef struct conv_case {
    const char *text;
    int64_t g, mb, ic, ih, iw, oc, oh, ow, kh, kw, sh, sw, ph, pw, ph_r, pw_r, dh, dw;
} conv_case;

static const conv_case conv_cases[] = {
    /* the thesis's second layer: spacing 3 is dh2 */
    {"mb100ic20ih16oc20kh4sh2ph4dh2", 1, 100, 20, 16, 16, 20, 8, 8, 4, 4, 2, 2, 4, 4, 4, 4, 2, 2},
    {"ic3ih5oc16oh5kh3ph1", 1, 2, 3, 5, 5, 16, 5, 5, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    /* padding deduced from sizes: ((5-1)*1 - 5 + 3) / 2 = 1 */
    {"ic3ih5oc16oh5kh3", 1, 2, 3, 5, 5, 16, 5, 5, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    /* an even kernel: left ((5-1) - 5 + 2) / 2 = 0, right 4 + 2 - 5 - 0 = 1 */
    {"ic3ih5oc4oh5kh2", 1, 2, 3, 5, 5, 4, 5, 5, 2, 2, 1, 1, 0, 0, 1, 1, 0, 0},
    /* an output that leaves the last column unread: right padding 2*2 + 3 - 8 - 1 < 0 */
    {"ic3ih8oc4oh3kh3sh2ph1", 1, 2, 3, 8, 8, 4, 3, 3, 3, 3, 2, 2, 1, 1, -2, -2, 0, 0},
    /* groups, underscores, order, name with a colon */
    {"g4_ic16oc16_kh3ph1_ih5oh5_n\"2d_conv:grouped\"", 4, 2, 16, 5, 5, 16, 5, 5, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    /* one dimension: only the width is given, height becomes 1 */
    {"g1ic3oc16_iw5ow5kw3pw1_n\"1d\"", 1, 2, 3, 1, 5, 16, 1, 5, 1, 3, 1, 1, 0, 1, 0, 1, 0, 0},
    /* 1-D with strides and dilation, depth and height spelled out as 1: still two-dimensional */
    {"mb1_ic1oc16_kd1kh1kw3_id1ih1iw11_od1oh1ow2_sd1sh1sw2_pd0ph0pw1_dd0dh0dw3n\"x\"", 1, 1, 1, 1, 11, 16, 1, 2, 1, 3,
     1, 2, 0, 1, 0, -1, 0, 3},
    /* rectangular: width given in full */
    {"mb1ic8ih7iw9oc8oh7ow4kh3kw5sh1sw2ph1pw1", 1, 1, 8, 7, 9, 8, 7, 4, 3, 5, 1, 2, 1, 1, 1, 1, 0, 0},
    {"ic1ih1iw1oc1oh1ow1kh1kw1", 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
    /* input deduced from output (thesis, equation 3.4): 7*2 + 3*3 + 1 - 2*4 = 16; 4 + 3 - 0 = 6 columns of a given
       height */
    {"mb100ic20oh8oc20kh4sh2ph4dh2", 1, 100, 20, 16, 16, 20, 8, 8, 4, 4, 2, 2, 4, 4, 4, 4, 2, 2},
    {"ic3ih5iw0oc4oh3ow4kh3kw3", 1, 2, 3, 5, 6, 4, 3, 4, 3, 3, 1, 1, 0, 0, 0, 0, 0, 0},
};

static void convolutions_are_deduced_as_benchdnn_does(void **state)
{
    for (size_t i = 0; i < sizeof conv_cases / sizeof conv_cases[0]; i++) {
        const conv_case *c = &conv_cases[i];
        cnn_problem p, again;
        cnn_error err = {.message = ""};
        char text[CNN_PROBLEM_TEXT_MAX];
        if (parse(CNN_OP_CONV, c->text, &p, &err) != CNN_OK) fail_msg("%s: %s", c->text, err.message);
        const cnn_conv_desc *d = &p.u.conv;
        const int64_t got[] = {d->g,  d->mb, d->ic, d->ih, d->iw, d->oc,   d->oh,   d->ow, d->kh,
                               d->kw, d->sh, d->sw, d->ph, d->pw, d->ph_r, d->pw_r, d->dh, d->dw};
        const int64_t want[] = {c->g,  c->mb, c->ic, c->ih, c->iw, c->oc,   c->oh,   c->ow, c->kh,
                                c->kw, c->sh, c->sw, c->ph, c->pw, c->ph_r, c->pw_r, c->dh, c->dw};
        for (size_t k = 0; k < sizeof want / sizeof want[0]; k++)
            if (got[k] != want[k])
                fail_msg("%s: field %zu is %lld, not %lld", c->text, k, (long long)got[k], (long long)want[k]);
        cnn_problem_format(&p, text);
        if (parse(CNN_OP_CONV, text, &again, &err) != CNN_OK) fail_msg("%s -> %s: %s", c->text, text, err.message);
        expect_same(&p, &again, text);
    }
}

/* PyTorch's (ih - 1)*stride - 2*padding + dilation*(k - 1) + output_padding + 1, or the padding that makes it so; kept
 * is the convolution the other way round, whose right padding the output padding is taken from. */
static void transposed_convolutions_are_deduced(void **state)
{
    static const struct {
        const char *text;
        int64_t ic, ih, oc, oh, ow, ph, ph_r;
    } cases[] = {
        {"mb3ic8ih7oc5kh4sh2ph1", 8, 7, 5, 14, 14, 1, 1},         {"ic8ih7oc5oh14kh4sh2", 8, 7, 5, 14, 14, 1, 1},
        {"ic3ih5oc4oh12kh3sh2ph0", 3, 5, 4, 12, 12, 0, -1},       {"ic3ih5oc4kh3dh2ph0", 3, 5, 4, 11, 11, 0, 0},
        {"ic3ih1iw9oc4kh1kw2sh1sw3ph0pw0", 3, 1, 4, 1, 26, 0, 0}, {"ic1ih1oc1kh1", 1, 1, 1, 1, 1, 0, 0},
        {"mb3ic8oh14oc5kh4sh2ph1", 8, 7, 5, 14, 14, 1, 1},        {"ic3oh12oc4kh3sh2ph0", 3, 5, 4, 12, 12, 0, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cnn_problem p, again;
        cnn_error err = {.message = ""};
        char text[CNN_PROBLEM_TEXT_MAX];
        if (parse(CNN_OP_DECONV, cases[i].text, &p, &err) != CNN_OK) fail_msg("%s: %s", cases[i].text, err.message);
        const cnn_conv_desc *d = &p.u.conv;
        const int64_t got[] = {d->oc, d->oh, d->ic, d->ih, d->iw, d->ph, d->ph_r}, *want = &cases[i].ic;
        for (size_t k = 0; k < sizeof got / sizeof got[0]; k++)
            if (got[k] != want[k])
                fail_msg("%s: %zu: %lld, not %lld", cases[i].text, k, (long long)got[k], (long long)want[k]);
        cnn_problem_format(&p, text);
        if (parse(CNN_OP_DECONV, text, &again, &err) != CNN_OK) fail_msg("%s: %s", text, err.message);
        expect_same(&p, &again, text);
    }
}

static void other_operations_come_back_from_their_text(void **state)
{
    static const struct {
        cnn_op op;
        const char *text;
    } cases[] = {
        {CNN_OP_FC, "mb100ic320oc10"},
        {CNN_OP_FC, "mb3ic20ih4iw5oc10"},
        {CNN_OP_CONV, "mb2ic3ih5oc4kh3zx3zy-5soc1"},
        {CNN_OP_CONV, "zx255_soc1_ic3ih5oc4kh3_zy-128n\"zx7\""},
        {CNN_OP_CONV3D, "mb2ic3oc4id5kd3zx-128zy255"},
        {CNN_OP_FC, "mb3ic20ih4iw5oc10zx-1soc1"},
        {CNN_OP_POOL, "max:mb2ic16ih8kh2sh2"},
        {CNN_OP_POOL, "avg:mb2ic3ih7oh4kh3sh2ph1"},
        {CNN_OP_POOL, "avg_pad:mb1ic1iw9kw3sw2pw1"},
        {CNN_OP_POOL, "global_avg:mb2ic16ih8iw7"},
        {CNN_OP_POOL3D, "max:mb2ic16id8kd2sd2"},
        {CNN_OP_POOL3D, "avg:mb2ic3id7od4kd3sd2pd1ih6kh2iw5kw3"},
        {CNN_OP_POOL3D, "max:mb2ic3id7kd2dd1ih6kh2sh2iw5kw3pw1"},
        {CNN_OP_POOL3D, "global_avg:mb2ic16id3ih8iw7"},
        {CNN_OP_ACT, "leaky_relu=0.3:mb2ic20ih16"},
        {CNN_OP_ACT, "tanh:mb2ic3"},
        {CNN_OP_LOSS, "mb100ic10"},
        {CNN_OP_DROPOUT, "0.2:mb2ic20ih16"},
        {CNN_OP_DROPOUT, "inference:mb2ic2"},
        {CNN_OP_ADD, "mb2ic20ih16iw3"},
        {CNN_OP_CONCAT, "3+5+7:mb2ih16"},
        {CNN_OP_DROPOUT, "0.2,seed=18446744073709551615:mb2ic2"},
        {CNN_OP_DROPOUT, "inference,seed=2,rate=0.2:mb2ic2"},
        {CNN_OP_BATCHNORM, "mb8ic20ih16"},
        {CNN_OP_BATCHNORM, "inference:mb8ic20ih16"},
        {CNN_OP_BATCHNORM, "eps=0.001:mb8ic20ih16n\"a:b\""},
        {CNN_OP_BATCHNORM, "inference,momentum=0.25,eps=0.3333333333333333:mb8ic20ih16"},
        {CNN_OP_OPTIMIZER, "adam,lr=0.01,l2=0.0001:ic1000"},
        {CNN_OP_OPTIMIZER, "sgd:ic17"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cnn_problem p, again;
        cnn_error err = {.message = ""};
        char text[CNN_PROBLEM_TEXT_MAX];
        if (parse(cases[i].op, cases[i].text, &p, &err) != CNN_OK) fail_msg("%s: %s", cases[i].text, err.message);
        cnn_problem_format(&p, text);
        if (parse(cases[i].op, text, &again, &err) != CNN_OK)
            fail_msg("%s -> %s: %s", cases[i].text, text, err.message);
        expect_same(&p, &again, text);
    }
}

static void zero_points_and_scales_are_read(void **state)
{
    cnn_problem p;
    cnn_error err = {.message = ""};
    char text[CNN_PROBLEM_TEXT_MAX];
    assert_int_equal(parse(CNN_OP_CONV, "soc1_ic3ih5oc4kh3zy-5_zx200", &p, &err), CNN_OK);
    assert_int_equal(p.u.conv.quant.zero_x, 200);
    assert_int_equal(p.u.conv.quant.zero_y, -5);
    assert_true(p.u.conv.quant.per_oc);
    cnn_problem_format(&p, text);
    assert_string_equal(text, "mb2ic3ih5oc4oh3kh3ph0zx200zy-5soc1");
    assert_int_equal(parse(CNN_OP_FC, "ic3oc4zx0soc0", &p, &err), CNN_OK);
    cnn_problem_format(&p, text);
    assert_string_equal(text, "mb2ic3oc4");
}

/* Values that no 15 digits tell apart, and texts as long as they get. */
static void every_field_comes_back_to_the_bit(void **state)
{
    const cnn_type t = defaults.type;
    const double odd = 0.1 + 0.2, tiny = 4.9406564584124654e-324, third = 1.0 / 3.0;
    const int64_t most = INT32_MAX;
    cnn_problem list[] = {
        {.op = CNN_OP_ACT, .u.act = {t, CNN_ACT_LEAKY_RELU, odd, 2, 3, 4, 5}},
        {.op = CNN_OP_DROPOUT, .u.dropout = {t, odd, UINT64_MAX - 1, false, 2, 3, 4, 5}},
        {.op = CNN_OP_DROPOUT, .u.dropout = {t, odd, 7, true, 2, 3, 4, 5}},
        {.op = CNN_OP_BATCHNORM, .u.batchnorm = {t, tiny, third, false, 2, 3, 4, 5}},
        {.op = CNN_OP_BATCHNORM, .u.batchnorm = {t, odd, 1.0, true, 2, 3, 4, 5}},
        {.op = CNN_OP_OPTIMIZER,
         .u.optimizer = {t, CNN_ADAGRAD, most, odd, third, odd, tiny, third, 1e-300 / 3, 1e300 / 3}},
        {.op = CNN_OP_CONV, .u.conv = {t, 1, 1, 1, 3, 3, 1, 1, 1, 3, 3, 1, 1, 0, 0, 0, 0, 0, 0, false, true}},
        {.op = CNN_OP_FC, .u.fc = {t, 2, 3, 4, 5, 6, false}},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        const cnn_problem_defaults other = {t, .no_bias = true, .flip = true};
        cnn_problem again;
        cnn_error err = {.message = ""};
        char text[CNN_PROBLEM_TEXT_MAX];
        memset(list[i].name, 'n', CNN_NAME_MAX - 1);
        cnn_problem_format(&list[i], text);
        if (cnn_problem_parse(list[i].op, text, &other, &again, &err) != CNN_OK) fail_msg("%s: %s", text, err.message);
        expect_same(&list[i], &again, text);
    }
}

static void the_same_work_has_the_same_text(void **state)
{
    cnn_problem a, b;
    cnn_error err;
    assert_int_equal(parse(CNN_OP_DROPOUT, "0.2,seed=7:mb2ic2n\"one\"", &a, &err), CNN_OK);
    assert_int_equal(parse(CNN_OP_DROPOUT, "0.2:mb2ic2", &b, &err), CNN_OK);
    a = cnn_problem_work(&a);
    expect_same(&a, &b, "the same work");
}

static void the_batch_can_be_said_apart(void **state)
{
    static const struct {
        cnn_op op;
        const char *text, *seven;
    } rows[] = {{CNN_OP_CONV, "mb2ic3ih5oc4kh3", "mb7ic3ih5oc4kh3"},
                {CNN_OP_CONV, "mb0ic3ih5oc4kh3", "mb7ic3ih5oc4kh3"},
                {CNN_OP_FC, "ic3oc4", "mb7ic3oc4"},
                {CNN_OP_POOL, "max:ic3ih4kh2", "max:mb7ic3ih4kh2"},
                {CNN_OP_ACT, "relu:ic3ih4", "relu:mb7ic3ih4"},
                {CNN_OP_LOSS, "ic10", "mb7ic10"},
                {CNN_OP_DROPOUT, "0.5:ic3ih4", "0.5:mb7ic3ih4"},
                {CNN_OP_ADD, "ic3ih4", "mb7ic3ih4"},
                {CNN_OP_CONCAT, "3+5:ih4", "3+5:mb7ih4"},
                {CNN_OP_BATCHNORM, "ic3ih4", "mb7ic3ih4"},
                {CNN_OP_OPTIMIZER, "adam:ic10", "adam:ic10"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const cnn_problem_defaults usual = {.mb = 0}, seven = {.mb = 7};
        char text[CNN_PROBLEM_TEXT_MAX], wanted[CNN_PROBLEM_TEXT_MAX];
        cnn_problem a, b;
        cnn_error err;
        assert_int_equal(cnn_problem_parse(rows[i].op, rows[i].text, &seven, &a, &err), CNN_OK);
        assert_int_equal(cnn_problem_parse(rows[i].op, rows[i].seven, &usual, &b, &err), CNN_OK);
        cnn_problem_format(&a, text);
        cnn_problem_format(&b, wanted);
        assert_string_equal(text, wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_are_deduced_as_benchdnn_does),
        cmocka_unit_test(transposed_convolutions_are_deduced),
        cmocka_unit_test(other_operations_come_back_from_their_text),
        cmocka_unit_test(zero_points_and_scales_are_read),
        cmocka_unit_test(every_field_comes_back_to_the_bit),
        cmocka_unit_test(the_same_work_has_the_same_text),
        cmocka_unit_test(the_batch_can_be_said_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
