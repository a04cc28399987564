# The ceilings' kernels: one text, compiled for each instruction set. A product and a sum may be fused here: that is the
# peak that is looked for.
set(peak_flags -O3 -ffp-contract=fast)
set_source_files_properties(cpu/peaks_base.c PROPERTIES COMPILE_OPTIONS "${peak_flags}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  target_sources(benchcnn_harness PRIVATE cpu/peaks_avx2.c cpu/peaks_avx512.c)
  target_compile_definitions(benchcnn_harness PRIVATE PEAKS_X86)
  set_source_files_properties(cpu/peaks_avx2.c PROPERTIES COMPILE_OPTIONS "${peak_flags};-mavx2;-mfma")
  set_source_files_properties(cpu/peaks_avx512.c PROPERTIES COMPILE_OPTIONS
    "${peak_flags};-mavx2;-mfma;-mavx512f;-mavx512vl;-mavx512dq;-mavx512bw;-mprefer-vector-width=512")
endif()
