/* test_foreign.c: problems as other programs write them, each next to what it stands for. Texts of cuDNN are from a log
 * of version 9.14, those of PyTorch from version 2.11; benchdnn's options mean what its documentation says. */
#include "tests/unit.h"

#include "harness/problem/names.h"
#include "harness/problem/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cnn_problem_defaults defaults = {.type = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32}};

/* What was read, a line each: "conv mb2ic3ih5oc4oh3kh3ph0 F", of which the letters are the directions that were said
 * (. for none), then no_bias, flip and what was said of the type; or "UNSUPPORTED ..." or "REFUSED ...". */
typedef struct heard {
    char text[8192];
    int lines;
} heard;

static void put(heard *h, const char *text)
{
    if (strlen(h->text) + strlen(text) + 2 < sizeof h->text) strcat(strcat(h->text, text), "\n");
    h->lines++;
}

static cnn_status hear(void *user, const char *text, cnn_op op, const cnn_problem_said *said,
                       const cnn_problem *problem, cnn_error *err)
{
    char line[CNN_MESSAGE_MAX + 64], descriptor[CNN_PROBLEM_TEXT_MAX];
    if (problem == NULL) {
        snprintf(line, sizeof line, "%s %s", err->status == CNN_UNSUPPORTED ? "UNSUPPORTED" : "REFUSED", err->message);
        put(user, line);
        return CNN_OK;
    }
    const cnn_type *t = &problem->u.type;
    const bool conv = op == CNN_OP_CONV || op == CNN_OP_DECONV;
    const bool no_bias = conv ? !problem->u.conv.bias : op == CNN_OP_FC && !problem->u.fc.bias;
    cnn_problem_format(problem, descriptor);
    snprintf(line, sizeof line, "%s %s %s%s%s%s%s%s%s%s%s%s", cnn_op_name(op), descriptor, said->dirs == 0 ? "." : "",
             said->dirs & 1 ? "F" : "", said->dirs & 2 ? "D" : "", said->dirs & 4 ? "W" : "", no_bias ? " no_bias" : "",
             conv && problem->u.conv.flip ? " flip" : "", said->dtype || said->layout || said->math ? " " : "",
             said->dtype ? cnn_dtype_name(t->dtype) : "", said->layout ? cnn_layout_name(t->layout) : "",
             said->math ? cnn_math_name(t->math) : "");
    put(user, line);
    return CNN_OK;
}

/* A folder for files, of which some are found by their folder's name. */
static char folder[] = "/tmp/benchcnn_foreign_XXXXXX";

static void put_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void read_file(const char *name, heard *h)
{
    char path[128];
    cnn_error err = {.status = CNN_OK};
    *h = (heard){.lines = 0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (cnn_problem_file(path, CNN_OP_CONV, false, &defaults, hear, h, &err) != CNN_OK) fail_msg("%s", err.message);
}

/* All that a file comes to; the folder is cut from messages. */
static void expect_file(const char *name, const char *text, const char *expected)
{
    static heard h;
    char plain[sizeof h.text] = "";
    put_file(name, text);
    read_file(name, &h);
    for (char *at = h.text, *found; at != NULL; at = found) {
        found = strstr(at, folder);
        strncat(plain, at, found != NULL ? (size_t)(found - at) : sizeof plain - strlen(plain) - 1);
        if (found != NULL) found += strlen(folder) + 1;
    }
    assert_string_equal(plain, expected);
}

static void options_of_benchdnn_hold_for_the_descriptors_behind_them(void **state)
{
    expect_file("conv/a",
                "--reset --dir=FWD_B,BWD_D,BWD_WB --mb=4\n"
                "ic3ih5oc4kh3n\"one\" # a comment\n"
                "--dir=FWD_D --dt=f32,f64 --stag=any --dtag=axb\nic3ih5oc4kh3\n"
                "--reset\n--attr-fpmath=tf32 --alg=direct,wino\nic3ih5oc4kh3\n",
                "conv mb4ic3ih5oc4oh3kh3ph0n\"one\" FDW\n"
                "conv mb4ic3ih5oc4oh3kh3ph0 F no_bias f32nhwc\n"
                "conv mb4ic3ih5oc4oh3kh3ph0 F no_bias f64nhwc\n"
                "conv mb2ic3ih5oc4oh3kh3ph0 . tf32\n");
    expect_file("conv/b",
                "--attr-post-ops=, \\\n      relu, \\\n  sum:0.5\nic3ih5oc4kh3\n--match=.*kh3$\nic3ih5oc4kh2\n",
                "UNSUPPORTED conv/b:3: there is none of it here\n"
                "conv relu:mb2ic3ih5oc4oh3kh3ph0 .\nconv mb2ic3ih5oc4oh3kh3ph0 .\n");
    expect_file(
        "conv/fused",
        "--attr-post-ops=sum+relu,add:f32:per_tensor,relu:0.5 --dir=FWD_B,BWD_D\nic3ih5oc4kh3n\"a\"\n"
        "--attr-post-ops=elu:2,relu+sum,add:f32:per_oc,relu+relu,elu:1:1,linear:2 --dir=FWD_D\nic3ih5oc4kh3\n",
        "conv add+relu:mb2ic3ih5oc4oh3kh3ph0n\"a\" FD\nconv add:mb2ic3ih5oc4oh3kh3ph0n\"a\" FD\n"
        "conv leaky_relu=0.5:mb2ic3ih5oc4oh3kh3ph0n\"a\" FD\n"
        "UNSUPPORTED conv/fused:3: there is none of it here\nUNSUPPORTED conv/fused:3: there is none of it here\n"
        "UNSUPPORTED conv/fused:3: there is none of it here\nUNSUPPORTED conv/fused:3: there is none of it here\n"
        "UNSUPPORTED conv/fused:3: there is none of it here\n"
        "conv elu=2:mb2ic3ih5oc4oh3kh3ph0 F no_bias\n");
    expect_file("conv/types", "--dt=bf16:bf16:bf16,f16:f16:f32,f16,u8:s8:s32,u8:s8:u8,u8:u8:s32\nic3ih5oc4kh3\n",
                "UNSUPPORTED conv/types:1: there is none of it here\n"
                "conv mb2ic3ih5oc4oh3kh3ph0 . f16\nconv mb2ic3ih5oc4oh3kh3ph0 . bf16\n"
                "conv mb2ic3ih5oc4oh3kh3ph0 . u8:s8:s32\nconv mb2ic3ih5oc4oh3kh3ph0 . f16:f16:f32\n"
                "conv mb2ic3ih5oc4oh3kh3ph0 . u8:s8:u8\n");
    expect_file("conv/quantized",
                "--dt=u8:s8:u8 --attr-scales=src:common:0.25+wei:per_oc,wei:common:0.5+dst:common:2\n"
                "--attr-zero-points=src:common:3+dst:common:-5\nic3ih5oc4kh3n\"a\"\n"
                "--attr-scales= --attr-zero-points=,wei:common:1,src:per_ic\nic3ih5oc4kh3\n"
                "--attr-scales=wei:per_ocic:1\nic3ih5oc4kh3\n"
                "--attr-scales=src:common:2 --dt=u8:s8:s32\nic3ih5oc4kh3\n",
                "conv mb2ic3ih5oc4oh3kh3ph0zx3zy-5n\"a\" . u8:s8:u8\n"
                "conv mb2ic3ih5oc4oh3kh3ph0zx3zy-5soc1n\"a\" . u8:s8:u8\n"
                "UNSUPPORTED conv/quantized:4: there is none of it here\n"
                "UNSUPPORTED conv/quantized:4: there is none of it here\n"
                "conv mb2ic3ih5oc4oh3kh3ph0 . u8:s8:u8\n"
                "UNSUPPORTED conv/quantized:6: there is none of it here\n"
                "UNSUPPORTED conv/quantized:7: it is asked for with --attr-scales=wei:per_ocic:1, and there is none of "
                "it here\n"
                "UNSUPPORTED conv/quantized:9: scales and zero points are done of conv and ip in types whose result "
                "has 8 bits, u8:s8:u8 and its like\n");
    expect_file("conv/fused8",
                "--dt=u8:s8:u8 --attr-post-ops=relu,sum+relu:0.5,add:u8:per_tensor+relu\nic3ih5oc4kh3\n"
                "--attr-zero-points=dst:common:7 --attr-post-ops=relu,sum:1:7:u8+relu,sum\nic3ih5oc4kh3\n"
                "--attr-zero-points= --attr-post-ops=sum:1:0:s8,add:f32:per_tensor,sum:1:0:x9\nic3ih5oc4kh3\n"
                "--attr-scales=dst:common:2 --attr-post-ops=sum,relu\nic3ih5oc4kh3\n"
                "--dt=f32 --attr-scales= --attr-post-ops=sum:1:3\nic3ih5oc4kh3\n",
                "conv relu:mb2ic3ih5oc4oh3kh3ph0 . u8:s8:u8\n"
                "conv add+leaky_relu=0.5:mb2ic3ih5oc4oh3kh3ph0 . u8:s8:u8\n"
                "conv add+relu:mb2ic3ih5oc4oh3kh3ph0 . u8:s8:u8\n"
                "conv relu:mb2ic3ih5oc4oh3kh3ph0zy7 . u8:s8:u8\n"
                "conv add+relu:mb2ic3ih5oc4oh3kh3ph0zy7 . u8:s8:u8\n"
                "UNSUPPORTED conv/fused8:4: a residual counts from the zero point of dst here: it is asked for with "
                "another, which sum:1:ZERO gives, and add has none\n"
                "UNSUPPORTED conv/fused8:5: there is none of it here\n"
                "UNSUPPORTED conv/fused8:6: a residual has the type of dst here, where that has 8 bits\n"
                "UNSUPPORTED conv/fused8:6: a residual has the type of dst here, where that has 8 bits\n"
                "UNSUPPORTED conv/fused8:8: a residual has the scale of dst here, and is not divided by it\n"
                "conv relu:mb2ic3ih5oc4oh3kh3ph0 . u8:s8:u8\n"
                "UNSUPPORTED conv/fused8:10: a residual of reals has no zero point\n");
    expect_file(
        "conv/c", "--dt=s8\nic3ih5oc4kh3\n--dt=f32 --stag=abx --dtag=axb\nic3ih5oc4kh3\n--reset --odd=1 ic3ih5oc4kh3",
        "UNSUPPORTED conv/c:1: there is none of it here\n"
        "UNSUPPORTED conv/c:2: it is asked for with --dt=s8, and there is none of it here\n"
        "UNSUPPORTED conv/c:4: it is asked for with different layouts in and out, and there is none of it here\n"
        "REFUSED conv/c:5: '--odd=1' is no option that is known here: give options of benchcnn on the command "
        "line\n"
        "UNSUPPORTED conv/c:5: it is asked for with --odd=1, and there is none of it here\n");
}

static void a_folder_or_an_option_tells_the_operation(void **state)
{
    expect_file("deconv/a", "ic3ih5oc4kh3sh2ph1\n", "deconv mb2ic3ih5oc4oh9kh3sh2ph1 .\n");
    expect_file("ip/a", "mb3ic2048oc1000\nic3id2ih4iw5oc6\n", "fc mb3ic2048oc1000 .\nfc mb2ic3ih8iw5oc6 .\n");
    expect_file("pool/a",
                "--alg=max,avg_np,avg_p --dir=FWD_D,BWD_D\nic3ih4kh2sh2\n--alg=max\nic3ih1kh3ph1\nic3ih1kh3ph3\n",
                "pool max:mb2ic3ih4oh2kh2sh2ph0 FD\npool avg:mb2ic3ih4oh2kh2sh2ph0 FD\n"
                "pool avg_pad:mb2ic3ih4oh2kh2sh2ph0 FD\n"
                "pool max:mb2ic3ih1oh1kh3ph1 FD\n"
                "UNSUPPORTED pool/a:5: bad descriptor 'max:ic3ih1kh3ph3': the pooling window at output h = 0 lies "
                "wholly in the padding\n");
    expect_file(
        "eltwise/a", "--alg=relu,relu_dst,tanh,gelu_erf --alpha=0,0.5\n2x3x4x5_n\"x\"\n16x3\n",
        "UNSUPPORTED eltwise/a:1: there is none of it here\n"
        "act relu:mb2ic3ih4iw5n\"x\" .\nact tanh:mb2ic3ih4iw5n\"x\" .\nact leaky_relu=0.5:mb2ic3ih4iw5n\"x\" .\n"
        "act tanh:mb2ic3ih4iw5n\"x\" .\n"
        "act relu:mb16ic3 .\nact tanh:mb16ic3 .\nact leaky_relu=0.5:mb16ic3 .\nact tanh:mb16ic3 .\n");
    expect_file("binary/a", "--alg=ADD --sdt=f32:f32 --ddt=f32\n3x5x6x9:3x5x6x9\n3x5:1x5\n4294967297:4294967297\n",
                "add mb3ic5ih6iw9 . f32\n"
                "UNSUPPORTED binary/a:3: one of its inputs is broadcast, which no operation here does\n"
                "UNSUPPORTED binary/a:4: a dimension is larger than 2147483647\n");
    expect_file("bnorm/a", "--flags=CH,GCH,GCHR --dir=FWD_D,BWD_DW\nmb2ic3id2ih3iw4\n",
                "UNSUPPORTED bnorm/a:1: there is none of it here\n"
                "batchnorm mb2ic3ih6iw4 FD\nbatchnorm inference:mb2ic3ih6iw4 F\n");
    expect_file("softmax/a", "16x16\n", "UNSUPPORTED softmax/a:1: no operation here is benchdnn's softmax\n");
    expect_file("plain", "./benchdnn --pool --alg=max ic3ih4kh2sh2\n--conv ic3ih5oc4kh3\n",
                "pool max:mb2ic3ih4oh2kh2sh2ph0 .\nconv mb2ic3ih5oc4oh3kh3ph0 .\n");
}

static void files_name_files(void **state)
{
    put_file("conv/inner", "ic3ih5oc4kh3\n");
    expect_file("conv/outer", "--mb=7\n--batch=inner\n--batch=nowhere\n",
                "conv mb7ic3ih5oc4oh3kh3ph0 .\n"
                "REFUSED conv/outer:3: cannot read problem file 'conv/nowhere': No such file or directory\n");
    expect_file(
        "conv/itself", "--batch=itself\n",
        "REFUSED conv/itself:1: '--batch=itself' is a file in a file in a file ..., 8 deep: does one name itself?\n");
}

static void lines_of_onednn_are_read(void **state)
{
    expect_file(
        "verbose",
        "what a program prints (of its own)\n"
        "onednn_verbose,info,cpu,runtime:OpenMP,nthr:2\n"
        "onednn_verbose,v1,primitive,exec,cpu,convolution,brg:avx2,forward_training,src:f32:a:blocked:acdb::f0 "
        "wei:f32:a:blocked:AcdB16b64a::f0 bia:f32:a:blocked:a::f0 dst:f32:a:blocked:acdb::f0,attr-scratchpad:user,"
        "alg:convolution_direct,mb1_ic16oc32_ih7oh7kh3sh1dh0ph1_iw7ow7kw3sw1dw0pw1,0.05\n"
        "dnnl_verbose,exec,cpu,inner_product,gemm:jit,backward_weights,src_f32::blocked:ab:f0 wei_f32::blocked:ab:f0 "
        "bia_undef::undef::f0 dst_f32::blocked:ab:f0,,,mb112ic2048oc1000,0.5\n"
        "onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:abcd::f0 "
        "dst:f32::blocked:ABcd::f0,,,2x16x7x7,0.02\n",
        "conv mb1ic16ih7oc32oh7kh3ph1 F f32nhwc\nfc mb112ic2048oc1000 W no_bias f32\n"
        "UNSUPPORTED verbose:5: no operation here is oneDNN's reorder\n");
}

static void command_lines_of_miopen_are_read(void **state)
{
    expect_file(
        "miopen",
        "./bin/MIOpenDriver conv -n 128 -c 3 -H 224 -W 224 -k 64 -y 7 -x 7 -p 3 -q 3 -u 2 -v 2 -l 1 -j 1 -m conv "
        "-g 1 -F 1 -t 1\n"
        "MIOpenDriver conv --batchsize 4 --in_channels 8 --in_h 9 --in_w 10 --out_channels 4 -g 2 -F 6 -z same\n"
        "MIOpenDriver conv -n 2 -c 8 -H 7 -W 7 -k 4 -y 4 -x 4 -p 1 -q 1 -u 2 -v 2 -m trans -F 0 -b 1\n"
        "MIOpenDriver convint4 -n 2 -c 8\n"
        "MIOpenDriver convint8 -n 2 -c 8 -H 7 -W 7 -k 4 -y 3 -x 3 -p 1 -q 1 -u 1 -v 1 -F 1\n"
        "MIOpenDriver convbfp16 -n 2 -c 8 -H 7 -W 7 -k 4 -y 3 -x 3 -p 1 -q 1 -u 1 -v 1 -F 2\n"
        "MIOpenDriver pool -n 2 -c 8 -H 8 -W 8 -y 2 -x 2 -u 2 -v 2 -m avg -F 2\n",
        "conv mb128ic3ih224oc64oh112kh7sh2ph3 F no_bias f32\n"
        "conv g2mb4ic8ih9iw10oc4oh9ow10kh3kw3ph1pw1 DW no_bias f32\n"
        "deconv mb2ic8ih7oc4oh14kh4sh2ph1 FDW f32\n"
        "UNSUPPORTED miopen:4: no operation, or type, here is MIOpenDriver's 'convint4'\n"
        "conv mb2ic8ih7oc4oh7kh3ph1 F no_bias s8:s8:s32\n"
        "conv mb2ic8ih7oc4oh7kh3ph1 D no_bias bf16\n"
        "pool avg:mb2ic8ih8oh4kh2sh2ph0 D f32\n");
}

static void layers_of_pytorch_are_read(void **state)
{
    expect_file(
        "torch",
        "Sequential(\n"
        "  (0): Conv2d(3, 8, kernel_size=(3, 5), stride=(2, 1), padding=(1, 1), dilation=(2, 2), bias=False) "
        "mb4ih32\n"
        "  (1): Conv2d(8, 8, kernel_size=(3, 3), stride=(1, 1), padding=same, groups=2) ih9iw8\n"
        "  (2): Conv1d(3, 4, kernel_size=(3,), stride=(1,)) iw30\n"
        "  (3): BatchNorm2d(64, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True) mb2ih7\n"
        "  (4): ReLU(inplace=True) mb2ic4ih8\n"
        "  (5): Linear(in_features=512, out_features=10, bias=True)\n"
        "  (6): MaxPool2d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=False) ic4ih8\n"
        "  (7): ConvTranspose2d(3, 8, kernel_size=(4, 4), stride=(2, 2), padding=(1, 1), output_padding=(1, 1)) "
        "ih8\n"
        "  (8): GELU(approximate='none')\n"
        "  (9): Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), padding_mode=circular) ih8\n"
        ")\n",
        "conv mb4ic3ih32iw32oc8oh15ow26kh3kw5sh2ph1pw1dh1dw1 . no_bias\n"
        "conv g2mb2ic8ih9iw8oc8oh9ow8kh3kw3ph1pw1 .\n"
        "conv mb2ic3iw30oc4ow28kw3pw0 .\n"
        "batchnorm mb2ic64ih7 .\n"
        "act relu:mb2ic4ih8 .\n"
        "fc mb2ic512oc10 .\n"
        "pool max:mb2ic4ih8oh4kh3sh2ph1 .\n"
        "deconv mb2ic3ih8oc8oh17kh4sh2ph1 .\n"
        "UNSUPPORTED torch:10: no operation here is PyTorch's GELU\n"
        "UNSUPPORTED torch:11: it pads with something else than zeros\n");
    static heard h;
    put_file("unsized", "Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1))\n");
    read_file("unsized", &h);
    if (strstr(h.text, "REFUSED") == NULL || strstr(h.text, "how large its input is") == NULL) fail_msg("%s", h.text);
}

static void arguments_of_google_benchmark_are_read(void **state)
{
    expect_file("bench.cc",
                "#include <benchmark/benchmark.h>\nstatic void Net(benchmark::internal::Benchmark* b) {\n"
                "  b->ArgNames({\"N\", \"H\", \"W\", \"KH\", \"KW\", \"PH\", \"PW\", \"S\", \"D\", \"G\", \"GCin\", "
                "\"GCout\"});\n"
                "  /*       N   H    W   KH  KW  PH  PW  S  D   G   GCin  GCout */\n"
                "  b->Args({1, 224, 224,  3,  3,  1,  1, 2, 1,   1,    3,   24});\n"
                "  b->Args({1,  56,  57,  3,  5,  2,  4, 1, 2,  36,    1,    1});\n}\n",
                "conv mb1ic3ih224oc24oh112kh3sh2ph0 F\n"
                "conv g36mb1ic36ih56iw57oc36oh54ow53kh3kw5ph1pw2dh1dw1 F\n");
    expect_file("gemm.cc", "  b->ArgNames({\"M\", \"N\", \"K\"});\n  b->Args({3136, 36, 24});\n",
                "UNSUPPORTED gemm.cc:2: its columns are not those of a convolution (H, W, KH, KW ...)\n");
}

static const char log_head[] = "I! CuDNN (v91400 64) function cudnnBackendFinalize() called:\n"
                               "i!     descriptor: type=CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:\n";
static const char log_tail[] = "i!             alpha: type=float; val=1;\n"
                               "i! Time: 2026-01-01T00:00:00.000000 (0d+0h+0m+0s since start)\n\n\n";

static void put_tensor(char *log, const char *key, const char *type, const char *dims, const char *strides)
{
    char text[512];
    snprintf(text, sizeof text,
             "i!             %s: type=CUDNN_BACKEND_TENSOR_DESCRIPTOR:\n"
             "i!                 type: type=cudnnDataType_t; val=%s;\n"
             "i!                 nbDims: type=int; val=4;\n"
             "i!                 dimA: type=int; val=[%s];\n"
             "i!                 strideA: type=int; val=[%s];\n",
             key, type, dims, strides);
    strcat(log, text);
}

static void put_operation(char *log, const char *operation, const char *type, const char *strides)
{
    char text[256];
    strcat(log, log_head);
    snprintf(text, sizeof text, "i!         op: type=CUDNN_BACKEND_OPERATION_CONVOLUTION_%s_DESCRIPTOR:\n", operation);
    strcat(log, text);
    put_tensor(log, operation[0] == 'F' ? "xDesc" : "dxDesc", type, "2,6,9,8", strides);
    put_tensor(log, "wDesc", type, "4,3,3,3", "27,9,3,1");
    strcat(log, "i!             convDesc: type=CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:\n"
                "i!                 mode: type=cudnnConvolutionMode_t; val=CUDNN_CROSS_CORRELATION (1);\n"
                "i!                 nbDims: type=int; val=2;\n"
                "i!                 upperPadA: type=int; val=[1,0];\n"
                "i!                 lowerPadA: type=int; val=[1,0];\n"
                "i!                 strideA: type=int; val=[2,1];\n"
                "i!                 dilationA: type=int; val=[2,1];\n");
    put_tensor(log, operation[0] == 'F' ? "yDesc" : "dyDesc", type, "2,4,4,6", "96,24,6,1");
    strcat(log, log_tail);
}

static void logs_of_cudnn_are_read(void **state)
{
    static char log[16384];
    strcat(log, "a line of the program\n");
    put_operation(log, "FORWARD", "CUDNN_DATA_FLOAT (0)", "432,72,8,1");
    put_operation(log, "BACKWARD_DATA", "CUDNN_DATA_DOUBLE (1)", "432,1,48,6");
    put_operation(log, "FORWARD", "CUDNN_DATA_INT8 (3)", "432,72,8,1");
    put_operation(log, "FORWARD", "CUDNN_DATA_HALF (2)", "432,72,8,1");
    expect_file("cudnn.log", log,
                "conv g2mb2ic6ih9iw8oc4oh4ow6kh3kw3sh2ph1pw0dh1 F no_bias f32nchw\n"
                "conv g2mb2ic6ih9iw8oc4oh4ow6kh3kw3sh2ph1pw0dh1 D no_bias f64nhwc\n"
                "UNSUPPORTED cudnn.log:87: its type is CUDNN_DATA_INT8\n"
                "conv g2mb2ic6ih9iw8oc4oh4ow6kh3kw3sh2ph1pw0dh1 F no_bias f16nchw\n");
}

static void a_line_alone_is_a_problem_too(void **state)
{
    heard h = {.lines = 0};
    cnn_error err;
    cnn_status status = CNN_OK;
    assert_false(cnn_problem_line("ic3ih5oc4kh3", &defaults, hear, &h, &status, &err));
    assert_true(cnn_problem_line("Conv2d(3, 4, kernel_size=3) ih5", &defaults, hear, &h, &status, &err));
    assert_string_equal(h.text, "conv mb2ic3ih5oc4oh3kh3ph0 .\n");
}

static int make_folders(void **state)
{
    static const char *const names[] = {"conv", "deconv", "ip", "pool", "eltwise", "binary", "bnorm", "softmax"};
    char command[256];
    if (mkdtemp(folder) == NULL) return -1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(command, sizeof command, "mkdir %s/%s", folder, names[i]);
        if (system(command) != 0) return -1;
    }
    return 0;
}

static int remove_folders(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(options_of_benchdnn_hold_for_the_descriptors_behind_them),
                                       cmocka_unit_test(a_folder_or_an_option_tells_the_operation),
                                       cmocka_unit_test(files_name_files),
                                       cmocka_unit_test(lines_of_onednn_are_read),
                                       cmocka_unit_test(command_lines_of_miopen_are_read),
                                       cmocka_unit_test(layers_of_pytorch_are_read),
                                       cmocka_unit_test(arguments_of_google_benchmark_are_read),
                                       cmocka_unit_test(logs_of_cudnn_are_read),
                                       cmocka_unit_test(a_line_alone_is_a_problem_too)};
    return cmocka_run_group_tests(tests, make_folders, remove_folders);
}
