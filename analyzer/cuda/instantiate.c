/* Injected references to instantiations. */
#include "cuda/instantiate.h"

#include <glib.h>
#include <string.h>

#define INJECTED_NAME "kcheck_instantiation_"

/* `template void ns::kern<9, Cfg<3>>(int *);` at the start of a line; group 1 is the name with its
 * arguments. Not `template <...>`, which declares. */
static const char EXPLICIT[] =
    "^[ \\t]*(?:extern[ \\t]+)?template[ \\t\\r\\n]+(?![<\\s])(?!(?:class|struct|union)\\b)"
    "[\\w:\\s*&<>,()]*?(?<![\\w:])((?:\\w+::)*\\w+\\s*<[^;{}()]*>)\\s*\\([^;{}]*;";

void instantiate_clear(EditSet *set, EditedFile *file) {
  int kept = 0;
  for (int i = 0; i < file->patches.count; i++)
    if (!strstr(file->patches.items[i].added, INJECTED_NAME))
      file->patches.items[kept++] = file->patches.items[i];
  file->patches.count = kept;
  edit_apply(set, file);
}

typedef struct Reference {
  size_t offset; /* in the original text */
  const char *added;
} Reference;

/* Whether the line that holds `at` continues the one before, as the lines of a macro do. */
static bool continues_a_line(const char *text, gint at) {
  while (at > 0 && text[at - 1] != '\n')
    at--;
  while (at > 0 && strchr("\r\n", text[at - 1]))
    at--;
  return at > 0 && text[at - 1] == '\\';
}

void instantiate_explicit(EditSet *set, EditedFile *file) {
  g_autoptr(GRegex) regex =
      g_regex_new(EXPLICIT, G_REGEX_MULTILINE | G_REGEX_OPTIMIZE | G_REGEX_RAW, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  g_autoptr(GError) failed = NULL;
  const char *text = file->text;
  KC_VEC(Reference) found = {0};
  g_regex_match_full(regex, text, (gssize)file->text_length, 0, 0, &match, &failed);
  while (g_match_info_matches(match)) {
    gint start, end, whole_start, whole_end;
    if (g_match_info_fetch_pos(match, 1, &start, &end) &&
        g_match_info_fetch_pos(match, 0, &whole_start, &whole_end)) {
      const char *name = kc_printf(set->arena, INJECTED_NAME "%d", found.count);
      if (continues_a_line(text, start)) /* a macro that is used twice defines two names */
        name = kc_printf(set->arena, "KCHECK_NUMBERED(%s_, __COUNTER__)", name);
      const char *added =
          kc_printf(set->arena, " static auto %s = &%.*s;", name, end - start, text + start);
      g_autofree char *line = g_strdup(added);
      g_strdelimit(line, "\r\n", ' '); /* keep the line numbers */
      Reference reference = {edit_original_offset(file, (size_t)whole_end),
                             kc_strdup(set->arena, line)};
      KC_PUSH(set->arena, found, reference);
    }
    if (!g_match_info_next(match, &failed)) break;
  }
  /* not before the last offset is known: they are of the text without these patches */
  for (int i = 0; i < found.count; i++)
    edit_add(set, file, found.items[i].offset, 0, found.items[i].added);
  edit_apply(set, file);
}

void instantiate_names(EditSet *set, EditedFile *file, const char *const *names, int count) {
  g_autoptr(GString) text = g_string_new("\n");
  for (int i = 0; i < count; i++) {
    /* "ns::kern<128>": looked up where it is declared, so that its arguments are too */
    const char *angle = strchr(names[i], '<');
    const char *scope = NULL;
    for (const char *at = names[i]; angle && at + 1 < angle; at++)
      if (at[0] == ':' && at[1] == ':') scope = at;
    if (scope)
      g_string_append_printf(text,
                             "namespace %.*s { static auto " INJECTED_NAME "named_%d = &%s; }\n",
                             (int)(scope - names[i]), names[i], i, scope + 2);
    else
      g_string_append_printf(text, "static auto " INJECTED_NAME "named_%d = &%s;\n", i, names[i]);
  }
  if (count == 0) return;
  edit_add(set, file, file->length, 0, kc_strndup(set->arena, text->str, text->len));
  edit_apply(set, file);
}

bool instantiate_is_injected(const EditedFile *file, size_t offset) {
  int64_t shift = 0;
  for (int i = 0; i < file->patches.count; i++) {
    const EditPatch *patch = &file->patches.items[i];
    size_t start = (size_t)((int64_t)patch->offset + shift), size = strlen(patch->added);
    if (strstr(patch->added, INJECTED_NAME) && offset >= start && offset < start + size)
      return true;
    shift += (int64_t)size - (int64_t)patch->removed;
  }
  return false;
}
