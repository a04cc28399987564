/* build_id.h: what stands beneath a figure without anyone having asked for it: this program, and the libraries and the
 * device that it found. A figure measured with others is another figure. */
#ifndef HARNESS_RECORD_BUILD_ID_H
#define HARNESS_RECORD_BUILD_ID_H

#include "record.h"

enum { BUILD_ID_MAX = 16 };

/* Of the bytes of the program and of its plug-ins' files: a commit says little of a changed tree. "": not to be told.
 */
void cnn_build_id(const char *const *plugins, int n_plugins, char id[BUILD_ID_MAX]);

/* This program's version, the processor, and what the implementation's `describe` tells, but for what decides over no
 * figure (the slot that a card is in) and what is asked for (threads). Returns how many; more than `capacity` are cut.
 */
int cnn_session_facts(const cnn_session *session, record_pair *facts, int capacity);
/* The same in short. */
void cnn_libraries_id(const cnn_session *session, char id[BUILD_ID_MAX]);

#endif
