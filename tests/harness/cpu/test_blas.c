/* test_blas.c: which OPENBLAS_CORETYPE a processor deserves, by the core that OpenBLAS took. */
#include "harness/cpu/limits.h"

#include "tests/unit.h"

static void a_core_that_uses_the_processor_stays(void **state)
{
    (void)state;
    static const char *const wide[] = {"SkylakeX", "Cooperlake", "SapphireRapids", "SKYLAKEX"};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        for (int isa = CPU_ISA_BASE; isa < CPU_ISA_COUNT; isa++) assert_null(cpu_blas_wanted(wide[i], (cpu_isa)isa));
    assert_null(cpu_blas_wanted("Haswell", CPU_ISA_AVX2));
    assert_null(cpu_blas_wanted("Zen", CPU_ISA_AVX2));
    assert_null(cpu_blas_wanted("Prescott", CPU_ISA_BASE));
    assert_null(cpu_blas_wanted("armv8", CPU_ISA_BASE));
}

static void an_older_core_is_replaced(void **state)
{
    (void)state;
    static const char *const old[] = {"Prescott", "Nehalem", "Sandybridge", "Barcelona", "unknown", ""};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
        assert_string_equal(cpu_blas_wanted(old[i], CPU_ISA_AVX2), "Haswell");
        assert_string_equal(cpu_blas_wanted(old[i], CPU_ISA_AVX512), "SkylakeX");
    }
    assert_string_equal(cpu_blas_wanted("Haswell", CPU_ISA_AVX512), "SkylakeX");
    assert_string_equal(cpu_blas_wanted("Zen", CPU_ISA_AVX512), "SkylakeX");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_core_that_uses_the_processor_stays),
        cmocka_unit_test(an_older_core_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
