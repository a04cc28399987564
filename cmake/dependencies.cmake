# Libraries of the distribution; each one that is missing is named with the package that brings it.
find_package(PkgConfig REQUIRED)
find_package(ZLIB REQUIRED)

pkg_check_modules(CJSON IMPORTED_TARGET libcjson)
if(NOT CJSON_FOUND)
  message(FATAL_ERROR "cJSON is missing: install it (Debian, Ubuntu: apt-get install libcjson-dev) or run ./test.sh")
endif()

pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
