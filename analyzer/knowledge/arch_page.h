/* A page for each file of knowledge/architectures: the limits of a card with the evidence of each,
 * and which of its build targets take what (knowledge/features.yaml). */
#ifndef KC_KNOWLEDGE_ARCH_PAGE_H
#define KC_KNOWLEDGE_ARCH_PAGE_H

#include <glib.h>

#include "support/error.h"

/* Calls `visit` with the path and text of each such page, written as a page file (front matter and
 * Markdown, id "arch-sm_100"), in order of the cards. False with `error` when a file is wrong. */
bool arch_pages_each(void (*visit)(const char *path, const char *text, void *user), void *user,
                     KcError *error);

#endif
