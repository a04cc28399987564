/* calls.c: adds one call to a list. Its plan is made and its operands are found here, once; a step then only runs down
 * the list. Operands are looked up by the names that cnn_operands() gives them. */
#include "harness/base/grow.h"
#include "harness/problem/names.h"
#include "harness/problem/shape.h"
#include "parts.h"

#include <string.h>

/* Place of a layer's parameter in the flat vector that starts at `base`. */
static size_t param_at(const cnn_trainer *t, int layer, cnn_param_role role, size_t base)
{
    const cnn_layer *l = &t->net->layers[layer];
    for (int i = 0; i < l->n_params; i++) {
        const cnn_param *p = &t->net->params[l->params[i]];
        if (p->role == role) return base + (size_t)p->offset * cnn_param_size(t->net);
    }
    return NOWHERE;
}

/* Of what it multiplies: there kernels of 16 bits read the copy. */
static size_t weight_at(const cnn_trainer *t, int layer, cnn_param_role role)
{
    const size_t own = param_at(t, layer, role, 0), size = cnn_param_size(t->net);
    if (own == NOWHERE || t->copy_at == NOWHERE) return param_at(t, layer, role, t->params_at);
    return t->copy_at + own / size * trainer_elem(t->loop);
}

/* By name, as cnn_operands() names them: a new operation needs no code here, only rows for names that are new. */
static bool operand_at(const cnn_trainer *t, int layer, const char *name, const size_t *dx, size_t *at)
{
    const cnn_layer *l = &t->net->layers[layer];
    const bool in_place = l->output == l->inputs[0];
    const struct {
        const char *name;
        size_t at;
    } table[] = {
        {"y", t->value_at[l->output]},
        {"dy", t->grad_at[l->output]},
        {"x", in_place && dx != NULL ? NOWHERE : t->value_at[l->inputs[0]]}, /* overwritten: f' comes from y */
        {"w", weight_at(t, layer, CNN_WEIGHT)},
        {"b", weight_at(t, layer, CNN_BIAS)},
        {"gamma", param_at(t, layer, CNN_GAMMA, t->params_at)},
        {"beta", param_at(t, layer, CNN_BETA, t->params_at)},
        {"running_mean", param_at(t, layer, CNN_RUNNING_MEAN, t->params_at)},
        {"running_var", param_at(t, layer, CNN_RUNNING_VAR, t->params_at)},
        {"dw", param_at(t, layer, CNN_WEIGHT, t->grads_at)},
        {"db", param_at(t, layer, CNN_BIAS, t->grads_at)},
        {"dgamma", param_at(t, layer, CNN_GAMMA, t->grads_at)},
        {"dbeta", param_at(t, layer, CNN_BETA, t->grads_at)},
        {"save_mean", t->save_at[layer][0]},
        {"save_invstd", t->save_at[layer][1]},
        {"labels", LANE_LABELS},
        {"loss_sum", t->loop->loss_at},
        {"correct", t->loop->correct_at},
        {"step", t->step_at},
        {"loss_scale", t->scaling_at}, /* its first number */
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].name, name) == 0) return *at = table[i].at, true;
    for (int i = 0; i < l->n_inputs; i++) { /* x0, x1, ...; dx, dx0, dx1, ... */
        char x_name[16], dx_name[16];
        snprintf(x_name, sizeof x_name, "x%d", i);
        snprintf(dx_name, sizeof dx_name, "dx%d", i);
        if (strcmp(x_name, name) == 0) return *at = t->value_at[l->inputs[i]], true;
        if (dx != NULL && (strcmp(dx_name, name) == 0 || (i == 0 && strcmp("dx", name) == 0))) return *at = dx[i], true;
    }
    return false;
}

static bool depends_on_mode(const cnn_problem *p) { return p->op == CNN_OP_DROPOUT || p->op == CNN_OP_BATCHNORM; }

static int known_plan(const cnn_trainer *t, int layer, cnn_dir dir, int64_t mb, bool inference)
{
    for (int i = 0; i < t->n_plans; i++) {
        const step_plan *p = &t->plans[i];
        if (p->layer == layer && p->plan.dir == dir && p->mb == mb && p->inference == inference) return i;
    }
    return -1;
}

static int make_plan(cnn_trainer *t, int layer, const cnn_request *request, int64_t mb, bool inference, cnn_error *err)
{
    step_plan *p = cnn_add_item(&t->plans, &t->n_plans, &t->plan_capacity, sizeof *p, "plans", err);
    if (p == NULL) return -1;
    *p = (step_plan){.layer = layer, .mb = mb, .inference = inference};
    return cnn_plan_make(t->session, request, &p->plan, err) == CNN_OK ? t->n_plans - 1 : -1;
}

/* The index of the plan, made now if there is none yet; -1 and the error. */
static int find_plan(cnn_trainer *t, int layer, const cnn_problem *problem, cnn_dir dir, int64_t mb, bool inference,
                     cnn_error *err)
{
    cnn_algorithm algorithm;
    inference = inference && depends_on_mode(problem);
    const int known = known_plan(t, layer, dir, mb, inference);
    if (known >= 0) return known;
    if (cnn_algorithm_pick(t->session, problem, dir, step_algorithm(&t->loop->params, layer, dir), &algorithm, err) !=
        CNN_OK)
        return -1;
    const cnn_request request = {.problem = problem, .dir = dir, .algorithm = &algorithm};
    return make_plan(t, layer, &request, mb, inference, err);
}

/* Gradients of parameters are kept in f32, so they are not rounded to 16 bits before. */
static void widen_gradients(cnn_problem *p, cnn_dir dir)
{
    const cnn_dtype dtype = p->u.type.dtype;
    if (dir != CNN_BWD_W || !cnn_is_weighted(p)) return;
    if (dtype == CNN_F16) p->u.type.dtype = CNN_F16_F16_F32;
    if (dtype == CNN_BF16) p->u.type.dtype = CNN_BF16_BF16_F32;
    p->u.type = cnn_type_for(p->op, p->u.type);
}

static step_call *new_call(call_list *list, cnn_error *err)
{
    return cnn_add_item(&list->calls, &list->count, &list->capacity, sizeof *list->calls, "calls of a step", err);
}

/* The call of a plan of a layer; the problem is the plan's. */
static cnn_status add_call(cnn_trainer *t, call_list *list, int layer, int plan, const cnn_problem *problem,
                           cnn_dir dir, const size_t dx[CNN_MAX_INPUTS], cnn_error *err)
{
    cnn_operand operands[CNN_MAX_OPERANDS];
    const int count = cnn_operands(problem, dir, operands, err);
    step_call *call = count < 0 ? NULL : new_call(list, err);
    if (call == NULL) return err->status;
    call->plan = plan;
    call->n_operands = count;
    snprintf(call->range, sizeof call->range, "%s %s", t->net->layers[layer].name, cnn_dir_name(dir));
    for (int i = 0; i < count; i++) {
        call->written |= (unsigned)(operands[i].access != CNN_IN) << i;
        if (!operand_at(t, layer, operands[i].name, dx, &call->at[i]))
            return CNN_FAIL(err, CNN_INTERNAL, "%s: the trainer knows no operand '%s'", t->net->layers[layer].name,
                            operands[i].name);
    }
    return CNN_OK;
}

cnn_status step_add_call(cnn_trainer *t, call_list *list, int layer, cnn_dir dir, int64_t mb, bool inference,
                         const size_t dx[CNN_MAX_INPUTS], double beta, cnn_error *err)
{
    const int64_t rank = rank_number(t->loop->params.ranks), size = rank_size(t->loop->params.ranks);
    cnn_problem problem = cnn_net_problem(t->net, layer, mb, inference);
    if (problem.op == CNN_OP_DROPOUT) /* the masks that these images have in the global batch */
        problem.u.dropout.seed = cnn_dropout_seed_from(
            problem.u.dropout.seed, rank * cnn_net_value_elems(t->net, t->net->layers[layer].output, mb));
    widen_gradients(&problem, dir);
    const int plan = find_plan(t, layer, &problem, dir, mb, inference, err);
    const cnn_status status = plan < 0 ? err->status : add_call(t, list, layer, plan, &problem, dir, dx, err);
    if (status == CNN_OK)
        list->calls[list->count - 1].extra = (cnn_run_extra){.beta = beta, .scale = 1.0 / (double)(mb * size)};
    return status;
}

/* -1: the layer's algorithm does not take it. */
static int fused_plan(cnn_trainer *t, int layer, int64_t mb, cnn_problem *fused)
{
    cnn_algorithm algorithm;
    cnn_error refused;
    const int known = known_plan(t, layer, CNN_FWD, mb, false), before = t->n_plans;
    const cnn_request request = {.problem = fused, .dir = CNN_FWD, .algorithm = &algorithm};
    if (known >= 0) *fused = t->plans[known].plan.problem;
    if (known >= 0) return cnn_has_epilogue(fused) ? known : -1;
    if (!step_fuses(t->session, t->net, &t->loop->params, layer, mb, fused, &algorithm)) return -1;
    const int plan = make_plan(t, layer, &request, mb, false, &refused);
    if (plan < 0) t->n_plans = before;
    return plan;
}

cnn_status step_add_fused(cnn_trainer *t, call_list *list, int layer, int64_t mb, bool *added, cnn_error *err)
{
    cnn_problem problem;
    const int plan = fused_plan(t, layer, mb, &problem);
    *added = plan >= 0;
    if (!*added) return CNN_OK;
    cnn_status status = add_call(t, list, layer, plan, &problem, CNN_FWD, NULL, err);
    step_call *done = status == CNN_OK ? new_call(list, err) : NULL;
    if (done == NULL) return err->status;
    *done = (step_call){.plan = -1, .done = true};
    return CNN_OK;
}

cnn_status step_add_sum(cnn_trainer *t, call_list *list, int value, int64_t mb, size_t to, size_t from, cnn_error *err)
{
    const cnn_value *v = &t->net->values[value];
    cnn_problem problem = {.op = CNN_OP_ADD};
    const cnn_type type = cnn_type_for(CNN_OP_ADD, t->net->type);
    problem.u.add = (cnn_add_desc){.t = type, .mb = mb, .ic = v->c, .ih = v->h, .iw = v->w};
    const int plan = find_plan(t, -1 - value, &problem, CNN_FWD, mb, false, err);
    step_call *call = plan < 0 ? NULL : new_call(list, err);
    if (call == NULL) return err->status;
    *call = (step_call){
        .plan = plan, .n_operands = 3, .written = 1u << 2, .at = {to, from, to}, .range = PROFILE_GRADIENTS};
    return CNN_OK;
}

cnn_status step_add_copy(cnn_trainer *t, call_list *list, int value, int64_t mb, size_t to, size_t from, cnn_error *err)
{
    step_call *call = new_call(list, err);
    if (call == NULL) return err->status;
    *call = (step_call){.plan = -1, .n_operands = 2, .written = 1u << 1, .at = {from, to}, .range = PROFILE_GRADIENTS};
    call->copy_bytes = (size_t)cnn_net_value_elems(t->net, value, mb) * trainer_elem(t->loop);
    return CNN_OK;
}

/* Which scale the gradients have, before the update chooses the next step's. */
static cnn_status add_note(cnn_trainer *t, call_list *list, cnn_error *err)
{
    step_call *call = new_call(list, err);
    if (call == NULL) return err->status;
    *call = (step_call){.plan = -1,
                        .n_operands = 2,
                        .written = 1u << 1,
                        .at = {t->scaling_at, t->scale_at},
                        .copy_bytes = sizeof(double),
                        .range = PROFILE_UPDATE};
    return CNN_OK;
}

cnn_status step_add_update(cnn_trainer *t, call_list *list, cnn_error *err)
{
    cnn_problem problem = {.op = CNN_OP_OPTIMIZER};
    problem.u.optimizer = t->loop->optimizer;
    const int plan = find_plan(t, OPTIMIZER_LAYER, &problem, CNN_FWD, 0, false, err);
    if (plan >= 0 && t->loop->optimizer.growth > 0.0 && add_note(t, list, err) != CNN_OK) return err->status;
    step_call *call = plan < 0 ? NULL : new_call(list, err);
    if (call == NULL) return err->status;
    const int states = cnn_optimizer_states(t->loop->optimizer.kind);
    *call =
        (step_call){.plan = plan, .n_operands = 3 + states, .at = {t->params_at, t->grads_at}, .range = PROFILE_UPDATE};
    for (int i = 0; i < states; i++) call->at[2 + i] = t->state_at[i];
    call->at[2 + states] = t->step_at;
    if (t->copy_at == NOWHERE) return CNN_OK;
    call->at[3 + states] = t->copy_at;
    call->at[4 + states] = t->scaling_at;
    call->n_operands += 2;
    return CNN_OK;
}
