/* cnn.h: the one public header of benchcnn; it takes in the others, which are not included alone.
 *
 * An implementation is one `cnn_impl` (cnn/impl.h): a struct of typed function pointers, the nullable ones marked
 * "(optional)". All else is plain data that crosses that struct. The headers need only the C standard library and
 * compile as C11 and as C++17, so an implementation outside the tree needs nothing else.
 *
 * Where to look:
 *   cnn/base.h   errors, types of number, layout, arithmetic, the operations and their directions
 *   cnn/desc.h   what each operation computes, and the descriptor of its shapes
 *   cnn/args.h   the pointers that each operation is called with
 *   cnn/net.h    a network
 *   cnn/plan.h   algorithms, knobs, plans, ceilings
 *   cnn/train.h  whole training in its own hands
 *   cnn/impl.h   the table to fill in
 *
 * Conventions, said once:
 *   - Sizes, strides and counts are int64_t elements; memory is size_t bytes.
 *   - Activations are 4-D, (n, c, h, w), stored NCHW or NHWC without gaps. Weights are always
 *     [oc][ic/g][kh][kw] (conv) or [oc][ic][ih][iw] (FC), biases [oc], whatever the layout.
 *   - Every buffer is in the implementation's own device memory, aligned to CNN_ALIGN bytes (but for `index` of
 *     cnn_gather_args), and given by the harness; operations allocate nothing and run in order on the context's stream.
 *     Outputs never alias inputs but where an operation says so.
 *   - `workspace` is NULL when 0 bytes were asked for; its contents do not survive from one call to the next.
 *   - Calls to one context come from one thread at a time; several contexts may be open.
 *   - Functions return a cnn_status; on failure they fill `err` (never NULL) with a sentence that holds the values.
 */
#ifndef CNN_H
#define CNN_H

#include "cnn/impl.h" /* and through it all of the above */

#endif
