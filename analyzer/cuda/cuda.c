/* A CUDA file to the Program, one stage after the other. */
#include "cuda/cuda.h"

#include <glib.h>
#include <string.h>

#include "cuda/alignment.h"
#include "cuda/describe.h"
#include "cuda/discover.h"
#include "cuda/faults.h"
#include "cuda/instantiate.h"
#include "cuda/kept.h"
#include "cuda/lower.h"
#include "cuda/parse.h"
#include "cuda/scan.h"
#include "cuda/stages.h"

typedef struct Load {
  KcArena *arena;
  const char *path;
  const CudaOptions *options;
  KcError *error;
  Clang clang;
  CudaParse parse;
  CudaUnit unit;
  StageNames stage_names;
  KC_VEC(const char *) wanted; /* instantiations that directives and options ask for */
  bool misses_header;
  SourceRange unparsed; /* the first statement that a missing header may excuse; line 0: none */
} Load;

int cuda_libclang_version(const char **path) {
  Clang clang;
  if (!clang_open(&clang, NULL)) return 0;
  if (path) *path = clang.path;
  return clang.version;
}

/* ---- text and directives ---- */

static bool read_main_text(Load *load, const char **text, size_t *length) {
  if (load->options->text) {
    *text = kc_strndup(load->arena, load->options->text, load->options->text_length);
    *length = load->options->text_length;
    return true;
  }
  g_autofree char *contents = NULL;
  g_autoptr(GError) failed = NULL;
  gsize size = 0;
  if (!g_file_get_contents(load->path, &contents, &size, &failed))
    return kc_fail(load->error, load->path, 0, 0, "can't be read: %s", failed->message);
  *text = kc_strndup(load->arena, contents, size);
  *length = size;
  return true;
}

/* Puts the references to instantiations into the text, in place of those of an earlier round. */
static void inject_references(Load *load) {
  EditedFile *file = edit_find(&load->parse.edits, load->path);
  instantiate_clear(&load->parse.edits, file);
  instantiate_explicit(&load->parse.edits, file);
  instantiate_names(&load->parse.edits, file, load->wanted.items, load->wanted.count);
}

/* Registers the file, its directives and the references to instantiations. */
static bool prepare_text(Load *load) {
  const char *text = NULL;
  size_t length = 0;
  if (!read_main_text(load, &text, &length)) return false;
  IrProgram *program = load->unit.program;
  uint32_t id = source_file(&program->sources, load->path, true);
  program->sources.files.items[id].text = text;
  program->sources.files.items[id].length = length;
  program->directives = ir_parse_directives(load->arena, id, text, length);
  EditedFile *file = edit_file(&load->parse.edits, load->path, text, length);
  alignment_annotate(&load->parse.edits, file);
  for (int i = 0; i < program->directives->instantiations.count; i++)
    KC_PUSH(load->arena, load->wanted, program->directives->instantiations.items[i]);
  for (const char *const *name = load->options->instantiate; name && *name; name++)
    KC_PUSH(load->arena, load->wanted, *name);
  inject_references(load);
  return true;
}

static bool load_dialects(Load *load) {
  CudaUnit *unit = &load->unit;
  unit->dialects = dialects_load(load->error);
  if (!unit->dialects) return false;
  IrDirectives *directives = unit->program->directives;
  for (int i = 0; i < directives->events.count; i++) {
    KcError error = {0};
    const IrEventDirective *event = &directives->events.items[i];
    if (!dialects_add_directive(unit->dialects, event, &error)) {
      IrDirectiveError entry = {kc_strdup(load->arena, error.message), event->range};
      KC_PUSH(load->arena, directives->errors, entry);
    }
    kc_error_clear(&error);
  }
  for (const char *const *path = load->options->dialects; path && *path; path++)
    if (!dialects_add_file(unit->dialects, *path, load->error)) return false;
  for (const char *const *text = load->options->event_directives; text && *text; text++) {
    g_autofree char *line = g_strconcat("// kcheck: ", *text, "\n", NULL);
    IrDirectives *parsed = ir_parse_directives(load->arena, 0, line, strlen(line));
    for (int i = 0; i < parsed->events.count; i++)
      if (!dialects_add_directive(unit->dialects, &parsed->events.items[i], load->error))
        return false;
  }
  return true;
}

/* ---- diagnostics ---- */

/* Offset of a diagnostic in the patched text of the main file; false when it stands elsewhere. */
static bool in_injected_text(Load *load, CXSourceLocation location) {
  CXFile file = NULL;
  unsigned offset = 0;
  load->clang.getFileLocation(location, &file, NULL, NULL, &offset);
  if (!file) return false;
  CXString name = load->clang.getFileName(file);
  const EditedFile *edited = edit_find(&load->parse.edits, load->clang.getCString(name));
  load->clang.disposeString(name);
  return edited && instantiate_is_injected(edited, offset);
}

/* Keeps one diagnostic; the first syntax error of a user file becomes the error of the load. */
static void keep_diagnostic(Load *load, CXDiagnostic diagnostic, bool beside_kernels) {
  CudaUnit *unit = &load->unit;
  const Clang *clang = &load->clang;
  CXSourceLocation location = clang->getDiagnosticLocation(diagnostic);
  const char *message = unit_string(unit, clang->getDiagnosticSpelling(diagnostic));
  const char *category = unit_string(unit, clang->getDiagnosticCategoryText(diagnostic));
  if (fault_is_harmless(message) || in_injected_text(load, location)) return;
  SourceRange range = unit_location(unit, location);
  bool user = range.file && unit->program->sources.files.items[range.file].user;
  g_autofree char *header = fault_missing_header(message);
  IrDiagnostic entry = {.range = range, .is_error = true, .in_user_file = user, .text = message};
  entry.unread = user && !beside_kernels && !(header && fault_header_is_for_hosts(header));
  if (header) entry.text = kc_printf(load->arena, "the header %s was not found", header);
  KC_PUSH(load->arena, unit->program->diagnostics, entry);
  CudaFault fault = {range, message};
  if (range.line && !header) KC_PUSH(load->arena, unit->faults, fault);
  if (!user || !fault_stops_any_compiler(category, message)) return;
  /* names and macros of the header are unknown: that clang can't parse them says nothing */
  if (load->misses_header && strcmp(category, "Parse Issue") == 0) {
    if (!load->unparsed.line) load->unparsed = range;
    return;
  }
  unit->program->syntax_errors++;
  if (load->error && !load->error->message)
    kc_fail(load->error, unit->program->sources.files.items[range.file].path, (int)range.line,
            (int)range.column, "%s", message);
}

static void note_toolkit(Load *load) {
  IrDiagnostic entry = {.text = load->parse.toolkit_reason};
  if (entry.text) KC_PUSH(load->arena, load->unit.program->diagnostics, entry);
}

/* libclang before 21 works, but not as well: the report says which was used. */
static void note_version(Load *load) {
  if (load->clang.version >= CLANG_ASM_API) return;
  IrDiagnostic entry = {.text =
                            kc_printf(load->arena,
                                      "libclang %d (%s) does not show asm statements: they were "
                                      "read from its print of each function; version %d or "
                                      "later reads them fully",
                                      load->clang.version, load->clang.path, CLANG_ASM_API)};
  KC_PUSH(load->arena, load->unit.program->diagnostics, entry);
}

static bool misses_header(Load *load) {
  for (unsigned i = 0; i < load->clang.getNumDiagnostics(load->unit.tu); i++) {
    CXDiagnostic diagnostic = load->clang.getDiagnostic(load->unit.tu, i);
    g_autofree char *header = fault_missing_header(
        unit_string(&load->unit, load->clang.getDiagnosticSpelling(diagnostic)));
    load->clang.disposeDiagnostic(diagnostic);
    if (header && !fault_header_is_for_hosts(header)) return true;
  }
  return false;
}

static bool keep_diagnostics(Load *load) {
  const Clang *clang = &load->clang;
  note_version(load);
  note_toolkit(load);
  unsigned count = clang->getNumDiagnostics(load->unit.tu);
  g_autofree bool *beside = faults_beside_kernels(clang, load->unit.tu);
  load->misses_header = misses_header(load);
  for (unsigned i = 0; i < count; i++) {
    CXDiagnostic diagnostic = clang->getDiagnostic(load->unit.tu, i);
    if (clang->getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error)
      keep_diagnostic(load, diagnostic, beside[i]);
    clang->disposeDiagnostic(diagnostic);
  }
  return load->unit.program->syntax_errors == 0;
}

/* ---- what the preprocessor left out ---- */

static void keep_skipped(Load *load) {
  CudaUnit *unit = &load->unit;
  CXSourceRangeList *ranges = load->clang.getAllSkippedRanges(unit->tu);
  for (unsigned i = 0; ranges && i < ranges->count; i++) {
    IrSkipped skipped = {unit_range(unit, ranges->ranges[i])};
    if (skipped.range.file && unit->program->sources.files.items[skipped.range.file].user)
      KC_PUSH(load->arena, unit->program->skipped, skipped);
  }
  if (ranges) load->clang.disposeSourceRangeList(ranges);
}

/* Kernels that the main file's text defines, guards or not. A file of which clang showed none of
 * its kernels (left out by the preprocessor, lost to an error) is not clean: nothing was checked.
 */
static int kernels_in_text(Load *load) {
  const EditedFile *file = edit_find(&load->parse.edits, load->path);
  int count = 0;
  bool open = false; /* behind a __global__, before the ; or { that ends its declaration */
  for (size_t at = 0; at < file->length;) {
    size_t next = scan_skip(file->original, file->length, at);
    if (next != at) {
      at = next;
      continue;
    }
    char c = file->original[at];
    if (c == '{' || c == ';') {
      count += open && c == '{';
      open = false;
    }
    if (scan_word(file->original, file->length, at, "__global__")) open = true;
    at++;
  }
  return count;
}

/* ---- lowering ---- */

static void add_note(Load *load, IrKernel *kernel, uint32_t where, bool may_hide,
                     const char *text) {
  IrNote note = {text, where, may_hide};
  KC_PUSH(load->arena, kernel->notes, note);
}

/* What could not be read may hide something from the kernel: the report has to say so. */
static void note_front_end(Load *load, CXCursor function, IrKernel *kernel) {
  CudaUnit *unit = &load->unit;
  const CudaFault *fault = unit_fault_within(unit, function);
  if (fault)
    add_note(load, kernel, source_stack(&unit->program->sources, fault->range, 0, kernel->name),
             true, kc_printf(load->arena, "clang does not accept a statement: %s", fault->message));
  for (int i = 0; fault && i < unit->program->diagnostics.count; i++) {
    IrDiagnostic *diagnostic = &unit->program->diagnostics.items[i];
    if (diagnostic->unread && unit_is_within(unit, function, diagnostic->range))
      diagnostic->unread = false; /* the note says it */
  }
}

static void lower_kernel(Load *load, CXCursor function, bool pattern, bool lost) {
  IrKernel *kernel = ir_kernel_new(load->unit.program, "", false);
  kernel->is_pattern = pattern;
  describe_kernel(&load->unit, function, kernel);
  for (int i = 0; i < load->stage_names.count; i++)
    KC_PUSH(load->arena, kernel->stage_constants, load->stage_names.items[i]);
  note_front_end(load, function, kernel);
  unit_asm_prepare(&load->unit, function);
  if (lost || !lower_function(&load->unit, function, kernel)) {
    kernel->body_lost = true;
    const char *pattern_error = NULL;
    CXCursor source = load->clang.getSpecializedCursorTemplate(function);
    const CudaFault *fault = unit_is_null(source) ? NULL : unit_fault_within(&load->unit, source);
    pattern_error = fault ? fault->message : "an error in a template it uses";
    add_note(
        load, kernel, kernel->where, true,
        kc_printf(load->arena, "clang dropped the body of this instantiation: %s", pattern_error));
  }
  if (pattern)
    add_note(load, kernel, kernel->where, true,
             kc_printf(load->arena,
                       "a template without an instantiation in this file: add // kcheck: "
                       "launch(%s<...>, ...) or --instantiate",
                       kernel->name));
}

/* Whether clang refused something in a user's file: a kernel that the file only instantiates or
 * launches, of a library's header, may be missing. */
static bool user_fault(const Load *load) {
  const SourceMap *map = &load->unit.program->sources;
  for (int i = 0; i < load->unit.faults.count; i++)
    if (map->files.items[load->unit.faults.items[i].range.file].user) return true;
  return false;
}

/* Launches in the main file's text. */
static int launches_in_text(Load *load) {
  const EditedFile *file = edit_find(&load->parse.edits, load->path);
  int count = load->unit.program->directives->launches.count;
  for (size_t at = 0; at + 2 < file->length;) {
    size_t next = scan_skip(file->original, file->length, at);
    bool launch = next == at && strncmp(file->original + at, "<<<", 3) == 0;
    count += launch;
    at = next != at ? next : at + (launch ? 3 : 1);
  }
  return count;
}

/* A statement that could not be parsed may have taken kernels with it, up to where clang found its
 * way again. */
static void note_swallowed(Load *load, int read) {
  int written = load->unparsed.line ? kernels_in_text(load) : 0;
  if (written <= read) return;
  IrDiagnostic entry = {.range = load->unparsed,
                        .is_error = true,
                        .in_user_file = true,
                        .unread = true,
                        .text = kc_printf(load->arena, "%d of %d kernels in the text were not read",
                                          written - read, written)};
  IrProgram *program = load->unit.program;
  KC_PUSH(load->arena, program->diagnostics, entry);
  for (int i = program->diagnostics.count - 1; i > 0; i--) /* said first: reports shorten lists */
    program->diagnostics.items[i] = program->diagnostics.items[i - 1];
  program->diagnostics.items[0] = entry;
}

static void lower_all(Load *load) {
  CudaFound found;
  discover(&load->unit, &found);
  int kernels = found.kernels.count + found.lost.count + found.patterns.count;
  load->unit.program->global_kernels_seen = kernels ? found.global_kernels : kernels_in_text(load);
  if (kernels == 0 && user_fault(load))
    load->unit.program->global_kernels_seen += launches_in_text(load);
  note_swallowed(load, found.global_kernels);
  for (int i = 0; i < found.kernels.count; i++)
    lower_kernel(load, found.kernels.items[i], false, false);
  for (int i = 0; i < found.lost.count; i++)
    lower_kernel(load, found.lost.items[i], false, true);
  for (int i = 0; i < found.patterns.count; i++)
    lower_kernel(load, found.patterns.items[i], true, false);
  for (int i = 0; i < found.hosts.count; i++) {
    IrKernel *host = ir_kernel_new(load->unit.program, "", true);
    describe_kernel(&load->unit, found.hosts.items[i], host);
    note_front_end(load, found.hosts.items[i], host);
    unit_asm_prepare(&load->unit, found.hosts.items[i]);
    if (!lower_function(&load->unit, found.hosts.items[i], host)) host->body_lost = true;
  }
}

/* ---- instantiations asked for ---- */

/* Names a template as it has to be written at global scope: looks for one called `bare`. */
typedef struct FindTemplate {
  CudaUnit *unit;
  const char *bare;
  const char *qualified;
} FindTemplate;

static CXChildVisitResult find_template(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  FindTemplate *find = data;
  if (cursor.kind == CXCursor_Namespace || cursor.kind == CXCursor_LinkageSpec)
    return CXChildVisit_Recurse;
  if (cursor.kind == CXCursor_FunctionTemplate &&
      strcmp(unit_name(find->unit, cursor), find->bare) == 0) {
    find->qualified = unit_qualified_name(find->unit, cursor);
    return CXChildVisit_Break;
  }
  return CXChildVisit_Continue;
}

/* Error message of the injected reference number `index`, or NULL when clang took it. */
static const char *injected_error(Load *load) {
  unsigned count = load->clang.getNumDiagnostics(load->parse.tu);
  for (unsigned i = 0; i < count; i++) {
    CXDiagnostic diagnostic = load->clang.getDiagnostic(load->parse.tu, i);
    const char *message = NULL;
    if (load->clang.getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error &&
        in_injected_text(load, load->clang.getDiagnosticLocation(diagnostic)))
      message = unit_string(&load->unit, load->clang.getDiagnosticSpelling(diagnostic));
    load->clang.disposeDiagnostic(diagnostic);
    if (message) return message;
  }
  return NULL;
}

/* Directives and options may name a kernel without its namespace: qualify and parse once more. */
static bool qualify_wanted(Load *load) {
  if (load->wanted.count == 0 || !injected_error(load)) return true;
  bool changed = false;
  load->unit.tu = load->parse.tu;
  for (int i = 0; i < load->wanted.count; i++) {
    const char *name = load->wanted.items[i];
    size_t size = strcspn(name, "< ");
    FindTemplate find = {&load->unit, kc_strndup(load->arena, name, size), NULL};
    load->clang.visitChildren(load->clang.getTranslationUnitCursor(load->parse.tu), find_template,
                              &find);
    if (!find.qualified || strcmp(find.qualified, find.bare) == 0) continue;
    load->wanted.items[i] = kc_printf(load->arena, "%s%s", find.qualified, name + size);
    changed = true;
  }
  if (!changed) return true;
  inject_references(load);
  load->unit.files.count = 0;
  return parse_again(&load->parse, load->path, load->options, load->error);
}

/* Says which instantiation clang refused: an option fails, a directive is a finding. */
static bool report_wanted(Load *load) {
  const char *message = load->wanted.count ? injected_error(load) : NULL;
  if (!message) return true;
  if (load->options->instantiate && load->options->instantiate[0])
    return kc_fail(load->error, load->path, 0, 0, "--instantiate: %s", message);
  IrDirectives *directives = load->unit.program->directives;
  for (int i = 0; i < directives->launches.count; i++)
    if (strchr(directives->launches.items[i].kernel, '<')) {
      IrDirectiveError entry = {kc_printf(load->arena, "can't instantiate %s: %s",
                                          directives->launches.items[i].kernel, message),
                                directives->launches.items[i].range};
      KC_PUSH(load->arena, directives->errors, entry);
      break;
    }
  return true;
}

/* ---- the pipeline ---- */

struct CudaOpening {
  GThread *thread; /* NULL once it was joined */
  Clang clang;
  KcError error;
  bool opened;
};

static gpointer open_libclang(gpointer data) {
  CudaOpening *opening = data;
  opening->opened = clang_open(&opening->clang, &opening->error);
  return NULL;
}

CudaOpening *cuda_open_start(void) {
  CudaOpening *opening = g_new0(CudaOpening, 1);
  opening->thread = g_thread_new("libclang", open_libclang, opening);
  return opening;
}

static void wait_for(CudaOpening *opening) {
  if (opening->thread) g_thread_join(opening->thread);
  opening->thread = NULL;
}

void cuda_open_free(CudaOpening *opening) {
  if (!opening) return;
  wait_for(opening);
  kc_error_clear(&opening->error);
  g_free(opening);
}

static bool take_libclang(Load *load, CudaOpening *opening) {
  wait_for(opening);
  load->clang = opening->clang;
  if (opening->opened) return true;
  const KcError *why = &opening->error;
  kc_fail(load->error, why->path, why->line, why->column, "%s",
          why->message ? why->message : "libclang can't be opened");
  return why->hint ? kc_hint(load->error, "%s", why->hint) : false;
}

/* The text and the dialects are read while libclang is being opened. */
static bool prepare(Load *load) {
  CudaOpening *own = load->options->opening ? NULL : cuda_open_start();
  bool prepared = prepare_text(load) && load_dialects(load) &&
                  take_libclang(load, own ? own : load->options->opening);
  cuda_open_free(own);
  return prepared;
}

/* Everything up to the unit that is lowered. */
static bool parse(Load *load) {
  CudaUnit *unit = &load->unit;
  load->parse.clang = &load->clang;
  if (!parse_file(&load->parse, load->path, load->options, load->error) || !qualify_wanted(load))
    return false;
  unit->tu = load->parse.tu;
  bool changed = false;
  if (!stages_apply(unit, &load->parse, load->path, &load->stage_names, &changed, load->error))
    return false;
  if (!changed) return true;
  inject_references(load);
  return parse_again(&load->parse, load->path, load->options, load->error);
}

static bool run(Load *load, CudaTiming *timing) {
  CudaUnit *unit = &load->unit;
  int64_t start = g_get_monotonic_time();
  if (!prepare(load)) return false;
  int64_t opened = g_get_monotonic_time();
  if (!parse(load) || !report_wanted(load)) return false;
  unit->tu = load->parse.tu;
  unit->files.count = 0;
  unit->program->toolkit_headers = load->parse.toolkit;
  edit_publish(&load->parse.edits, unit);
  if (!keep_diagnostics(load)) return false;
  keep_skipped(load);
  int64_t parsed = g_get_monotonic_time();
  if (load->options->progress) load->options->progress("lower", NULL);
  lower_all(load);
  if (timing)
    *timing = (CudaTiming){opened - start, parsed - opened, g_get_monotonic_time() - parsed};
  return true;
}

static void begin(Load *load, KcArena *arena, IrViolations *violations) {
  load->arena = arena;
  load->parse.edits.arena = arena;
  g_autofree char *absolute = g_canonicalize_filename(load->path, NULL);
  g_autofree char *folder = g_path_get_dirname(absolute);
  load->unit = (CudaUnit){.clang = &load->clang,
                          .arena = arena,
                          .program = ir_program_new(arena, load->path, load->options->arch),
                          .violations = violations,
                          .options = load->options};
  load->unit.folder =
      g_str_has_suffix(folder, "/") ? kc_strdup(arena, folder) : kc_printf(arena, "%s/", folder);
}

static void end(Load *load) {
  parse_dispose(&load->parse);
  if (load->unit.dialects) dialects_free(load->unit.dialects);
  if (load->unit.assigned) g_hash_table_destroy(load->unit.assigned);
}

IrProgram *cuda_load(KcArena *arena, const char *path, const CudaOptions *options,
                     IrViolations *violations, CudaTiming *timing, KcError *error) {
  Load load = {.path = path, .options = options, .error = error};
  begin(&load, arena, violations);
  bool done = run(&load, timing);
  end(&load);
  return done ? load.unit.program : NULL;
}

void cuda_keep_parse(const char *path, const CudaOptions *options) {
  KcError error = {0};
  IrViolations violations = {.arena = kc_arena_new()};
  Load load = {.path = path, .options = options, .error = &error};
  begin(&load, violations.arena, &violations);
  if (prepare(&load)) {
    kept_open(options->kept, &load.clang);
    parse(&load);
  }
  end(&load);
  kc_error_clear(&error);
  kc_arena_free(violations.arena);
}
