/* Which targets an instruction exists on: "90+" (every GPU from 9.0), "90a" (that architecture
 * alone), "100f" (every a and f target of the family from 10.0 on). PTX ISA 11.1.2. */
#include <stdlib.h>
#include <string.h>

#include "isa/internal.h"

typedef struct Target {
  int number;
  char suffix; /* 'a', 'f', '+' or 0 */
} Target;

static bool read_target(const char *text, Target *target) {
  if (strncmp(text, "sm_", 3) == 0) text += 3;
  if (strncmp(text, "compute_", 8) == 0) text += 8;
  char *end;
  target->number = (int)strtol(text, &end, 10);
  target->suffix = *end;
  return target->number >= 50;
}

/* GPUs of one family share the f-features. */
static int family_of(int number) {
  switch (number) {
  case 101:
  case 110: return 110;
  default: return number / 10 * 10;
  }
}

static bool allows(Target needed, Target have) {
  if (needed.suffix == '+') return have.number >= needed.number;
  if (needed.suffix == 'a') return have.suffix == 'a' && have.number == needed.number;
  return have.suffix != 0 && family_of(have.number) == family_of(needed.number) &&
         have.number >= needed.number;
}

bool isa_target_allows(const char *const *targets, const char *target, bool *suffix) {
  *suffix = false;
  Target have;
  if (!targets || !targets[0] || !target || !read_target(target, &have)) return true;
  for (int i = 0; targets[i]; i++) {
    Target needed;
    if (!read_target(targets[i], &needed)) continue;
    if (allows(needed, have)) return true;
    Target full = {have.number, 'a'};
    if (allows(needed, full)) *suffix = true;
  }
  return false;
}
