/* verify_mutants.h: `benchcnn verify --mutants [NAME...]`: what the checks are worth. Runs every mutant of the lists in
 * the folder `mutants` beside the program (target `mutants` of the build), and prints the kill matrix. */
#ifndef CLI_MUTANTS_VERIFY_MUTANTS_H
#define CLI_MUTANTS_VERIFY_MUTANTS_H

#include "cli/cli.h"

cnn_status verify_mutants_args(const cli_options *options, cnn_error *err); /* its arguments alone */
int verify_mutants(const cli_options *options, cnn_error *err);

#endif
