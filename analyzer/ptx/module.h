/* ptx (private): what one .ptx module declares. */
#ifndef KC_PTX_MODULE_H
#define KC_PTX_MODULE_H

#include "ptx/lower.h"

typedef struct PtxParam {
  const char *name;
  IrType type;
  uint64_t offset, bytes;
  uint32_t align;
  bool pointer; /* .ptr */
} PtxParam;

typedef KC_VEC(PtxParam) PtxParams;

typedef struct PtxFunction {
  const char *name;
  bool entry;
  uint32_t where;
  PtxParams results, params;
  bool has_body;
  PtxStatements body;
  bool has_maxntid, has_maxclusterrank;
  int maxntid[3], reqntid[3], cluster[3];
  int minnctapersm, maxnreg, maxclusterrank;
} PtxFunction;

typedef struct PtxVariable {
  PtxStatement statement;
  uint64_t address; /* of .global and .const ones */
  bool read_only;
} PtxVariable;

typedef struct PtxModule {
  IrProgram *program;
  KcArena *arena;
  const char *text;
  size_t length;
  uint32_t file;         /* of the module itself */
  bool has_locations;    /* some .loc was seen: places are those of the source */
  const char *target;    /* of .target */
  int version;           /* of .version, times 10 */
  GHashTable *files;     /* number of .file -> id in the source map, + 1 */
  GHashTable *strings;   /* label in .debug_str -> text */
  GHashTable *stacks;    /* "file:line:column" -> stack id that was current there last */
  GHashTable *functions; /* name -> PtxFunction */
  GHashTable *variables; /* name -> PtxVariable */
  GHashTable *objects;   /* name -> PtxSymbol of the kernel being lowered */
  size_t line_offset;    /* where `line` starts; the statements come in order */
  uint32_t line;
  uint64_t global_top;
} PtxModule;

/* ---- debug.c ---- */
/* Reads .file directives and the strings of .debug_str. */
void ptx_read_debug(PtxModule *module);
/* Line and column of a byte of the text. */
SourceRange ptx_text_place(PtxModule *module, uint32_t begin, uint32_t end);

/* ---- declare.c ---- */
/* Reads the whole module: functions with their statements, variables, directives. */
bool ptx_read_module(PtxModule *module, KcError *error);

#endif
