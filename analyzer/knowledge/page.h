/* The pages of the knowledge base: knowledge/pages/<kind>/<id>.md, Markdown with YAML front matter.
 * A section's anchor is its heading in lower case, blanks as hyphens, other signs left out. */
#ifndef KC_KNOWLEDGE_PAGE_H
#define KC_KNOWLEDGE_PAGE_H

#include <glib.h>
#include <jansson.h>

#include "rules/rules.h"
#include "support/error.h"

typedef struct PageSection {
  int level; /* number of # */
  const char *title, *anchor;
  const char *text; /* what follows the heading, up to the next one */
} PageSection;

typedef struct PageCaveat { /* something to watch for, and who watches */
  const char *id, *text;
  const char *const *rules;  /* ids of the rules that check it; empty: none can */
  const char *not_checkable; /* why no static check can see it, or NULL */
  const char *evidence;      /* what the statement rests on */
} PageCaveat;

typedef struct Page {
  const char *path; /* "knowledge/pages/hardware/hw-tma.md" */
  const char *id, *title, *type, *confidence;
  const char *evidence_level, *measured_on, *reproducibility; /* or NULL */
  /* NULL-terminated lists. */
  const char *const *architectures, *const *languages, *const *tags, *const *related;
  const char *const *sources, *const *prerequisites;
  const char *const *aliases;  /* other ids it is asked for by */
  const char *const *symptoms; /* what a person sees, for the search */
  const char *const *code;     /* files of fixtures/reference that show it */
  const char *const
      *upstream;       /* packages of fixtures/upstream.yaml that show it, or package:file */
  GPtrArray *sections; /* PageSection*; the first is the page's own heading */
  GPtrArray *caveats;  /* PageCaveat* */
} Page;

typedef struct Pages Pages;

/* Which pages are meant; NULL is any. */
typedef struct PageFilter {
  const char *type;                  /* "hardware" */
  const char *tag;                   /* one of its tags */
  const char *arch;                  /* it speaks of this target: "sm_100", "sm_100a" */
  const char *rule;                  /* the page of this rule, and pages whose caveats name it */
  const char *language, *confidence; /* "cuda-cpp", "verified" */
} PageFilter;

/* Loads every page, and one for each architecture (arch_page.h); NULL with file and line of the
 * first that is wrong. */
Pages *pages_load(KcError *error);
void pages_free(Pages *pages);
const GPtrArray *pages_all(const Pages *pages); /* of Page*, by id */
/* The page called `id`, or that has it as an alias; NULL with a suggestion in `error`. */
const Page *pages_find(const Pages *pages, const char *id, KcError *error);
/* The word that stands for an everyday name ("umma" is tcgen05), or `word` itself. */
const char *pages_word(const Pages *pages, const char *word);
/* Whether a list of targets is about `wanted`: "sm_100" is met by sm_100, sm_100a and sm_100f;
 * "sm_90+" holds every later one too, "any" everything. */
bool archs_hold(const char *const *archs, const char *wanted);
bool page_matches(const Page *page, const Rules *rules, const PageFilter *filter);
/* The types of pages, in the order in which they are listed; NULL-terminated. */
const char *const *page_types(void);
/* Its section with that anchor; NULL with a suggestion in `error`. */
const PageSection *page_section(const Page *page, const char *anchor, KcError *error);

/* The page for a terminal of 80 columns: paragraphs filled, tables and code as they stand, its
 * caveats and the rules that lead to it at the end. With `section` only that section. */
void page_print(const Page *page, const PageSection *section, const Rules *rules, GString *out);
/* Appends the files that `page->code` names, each with what became of it (run on which card and
 * compared with what, or only compiled), then their headers, and package, version, path and SHA-256
 * of the kernels that `page->upstream` names; fails when one is not there. */
bool page_print_code(const Page *page, GString *out, KcError *error);
/* Appends the YAML that the page begins with, as it stands in its file. */
void page_print_front_matter(const Page *page, GString *out);
/* "id  title", one a line by type, or as JSON {"pages": [...]}: those that `filter` lets through.
 */
void pages_list_text(const Pages *pages, const Rules *rules, const PageFilter *filter,
                     GString *out);
json_t *page_json(const Page *page);
json_t *pages_list_json(const Pages *pages, const Rules *rules, const PageFilter *filter);

#endif
