/* options.h: the parser of the command line; commands see only cli.h. */
#ifndef HARNESS_CLI_OPTIONS_H
#define HARNESS_CLI_OPTIONS_H

#include "../registry.h"
#include "cli.h"

/* NULL for an unknown name: the error offers the nearest. */
cli_command *cli_find_command(const char *name, cnn_error *err);
/* argv[1] is the command. Plug-ins are loaded into `registry`, which the options then point to; knob settings are
 * checked too. */
cnn_status cli_parse(cli_options *options, cnn_registry *registry, int argc, char **argv, cnn_error *err);
/* plugins.c, for cli_parse: into `registry`; with --isolate those that do not survive a trial go to options->lost, and
 * --impl and --set lose their names. */
cnn_status cli_load_plugins(cli_options *options, cnn_registry *registry, cnn_error *err);
/* The command has returned: the process may end. */
void cli_plugins_done(void);
/* To standard output; of one command, or (NULL) of the program. */
void cli_help(const char *command);

#endif
