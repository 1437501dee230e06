#include "report/repro.h"

#include <string.h>

#include "report/repro_map.h"
#include "support/data.h"

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:"

enum { MOST_PARAMETER_BYTES = 4096 };

static const MachineReplay *replay_of(const ReproInput *input) {
  const MachineResult *result = input->result;
  for (int i = 0; result && i < result->replays.count; i++)
    if (result->replays.items[i].violation == input->violation) return &result->replays.items[i];
  return result && result->replays.count > 0 ? &result->replays.items[0] : NULL;
}

/* ---- what can't be shown ---- */

static bool check_engine(const ReproInput *input, KcError *error) {
  const char *path = input->finding->path;
  int line = input->finding->line;
  if (strcmp(input->engine, "instruction") == 0) {
    kc_fail(error, path, line, 0, "no run shows %s: the assembler refuses the instruction",
            input->finding->rule);
    return kc_hint(error, "nvcc -gencode arch=compute_%s,code=sm_%s -c %s", input->target,
                   input->target, path);
  }
  if (strcmp(input->engine, "source") == 0)
    return kc_fail(error, path, line, 0,
                   "no run shows %s for certain: it depends on what the compiler makes of the text",
                   input->finding->rule);
  return true;
}

static bool check_kernel(const ReproInput *input, const MachineReplay *replay, KcError *error) {
  const IrKernel *kernel = input->kernel;
  const char *path = input->finding->path;
  if (!replay)
    return kc_fail(error, path, input->finding->line, 0, "%s was not run: there are no inputs",
                   kernel->instantiation);
  if (kernel->is_pattern || strstr(kernel->instantiation, "<...>")) {
    kc_fail(error, path, input->finding->line, 0, "%s is a template that nothing instantiates",
            kernel->name);
    return kc_hint(error, "name an instantiation with --instantiate '%s<...>'", kernel->name);
  }
  for (int i = 0; i < kernel->params.count; i++)
    if (kernel->params.items[i].offset + kernel->params.items[i].bytes > MOST_PARAMETER_BYTES)
      return kc_fail(error, path, input->finding->line, 0,
                     "the parameters of %s take over %d bytes", kernel->instantiation,
                     MOST_PARAMETER_BYTES);
  return true;
}

/* ---- arguments ---- */

typedef struct Writer {
  const ReproInput *input;
  const MachineReplay *replay;
  GString *out;
  KcError *error;
  int pointers; /* pointer leaves so far */
} Writer;

static const char *leaf_name(const IrLeaf *leaf, const IrParam *param) {
  return leaf->name ? leaf->name : param->name && *param->name ? param->name : "argument";
}

/* Two's complement of the leaf's width, as a literal. */
static void put_integer(Writer *w, int p, uint64_t within, const IrLeaf *leaf) {
  uint64_t bits = 0;
  memcpy(&bits, w->replay->param + leaf->offset, leaf->type.bytes);
  int64_t value = (int64_t)bits;
  if (leaf->type.bytes < 8 && leaf->type.cls == IR_CLASS_SINT) {
    int unused = 64 - 8 * leaf->type.bytes;
    value = (int64_t)(bits << unused) >> unused;
  }
  g_string_append_printf(
      w->out, "  put<uint%d_t>(p%d, %" G_GUINT64_FORMAT ", uint%d_t(%" G_GINT64_FORMAT "));",
      8 * leaf->type.bytes, p, within, 8 * leaf->type.bytes, value);
}

static void append_pattern(Writer *w) {
  for (int i = 0; i < w->replay->npattern; i++)
    g_string_append_printf(w->out, "%s%" G_GINT64_FORMAT, i ? ", " : "", w->replay->pattern[i]);
}

static bool put_pointer(Writer *w, int p, uint64_t within, const IrLeaf *leaf, const char *name) {
  uint64_t target = IR_POINTER_BASE + (uint64_t)w->pointers++ * IR_POINTER_STRIDE;
  if (leaf->pointee_kind == IR_LEAF_TENSOR_MAP) {
    g_string_append_printf(w->out, "  alignas(64) unsigned char map%d[128] = {};\n", w->pointers);
    g_autofree char *buffer = g_strdup_printf("map%d", w->pointers);
    if (!repro_put_map(w->input, target, buffer, 0, name, w->out, w->error)) return false;
    g_string_append_printf(
        w->out,
        "\n  void *device_map%d = memory(\"%s\", ZEROS, 1, {});\n"
        "  must(cudaMemcpy(device_map%d, map%d, 128, cudaMemcpyHostToDevice), \"map\");\n"
        "  must(cudaMemcpy(buffers().back().pristine, map%d, 128, cudaMemcpyHostToDevice), "
        "\"map\");\n"
        "  put<void *>(p%d, %" G_GUINT64_FORMAT ", device_map%d);",
        w->pointers, name, w->pointers, w->pointers, w->pointers, p, within, w->pointers);
    return true;
  }
  bool whole =
      leaf->pointee_kind == IR_LEAF_INT && leaf->pointee.bytes >= 4 && leaf->pointee.bytes <= 8;
  const char *contents = leaf->pointee_kind == IR_LEAF_POINTER ? "POINTERS"
                         : whole                               ? "INTEGERS"
                                                               : "REALS";
  int width = leaf->pointee.bytes ? leaf->pointee.bytes : 4;
  g_string_append_printf(w->out,
                         "  put<void *>(p%d, %" G_GUINT64_FORMAT ", memory(\"%s\", %s, %d, {", p,
                         within, name, contents, width);
  if (whole) append_pattern(w);
  g_string_append(w->out, "}));");
  return true;
}

static bool put_leaf(Writer *w, int p, const IrParam *param, const IrLeaf *leaf) {
  uint64_t within = leaf->offset - param->offset;
  const char *name = leaf_name(leaf, param);
  switch ((IrLeafKind)leaf->kind) {
  case IR_LEAF_POINTER:
    if (!put_pointer(w, p, within, leaf, name)) return false;
    break;
  case IR_LEAF_INT:
    if (leaf->type.bytes > 8) return true;
    put_integer(w, p, within, leaf);
    break;
  case IR_LEAF_FLOAT:
    if (leaf->type.bytes != 4 && leaf->type.bytes != 8) return true;
    g_string_append_printf(w->out, "  put<%s>(p%d, %" G_GUINT64_FORMAT ", 1);",
                           leaf->type.bytes == 4 ? "float" : "double", p, within);
    break;
  case IR_LEAF_TENSOR_MAP: {
    g_autofree char *buffer = g_strdup_printf("p%d", p);
    if (!repro_put_map(w->input, IR_PARAM_BASE + leaf->offset, buffer, within, name, w->out,
                       w->error))
      return false;
    break;
  }
  case IR_LEAF_OTHER: return true;
  }
  g_string_append_printf(w->out, " // %s\n", name);
  return true;
}

static bool put_arguments(Writer *w) {
  const IrKernel *kernel = w->input->kernel;
  for (int i = 0; i < kernel->params.count; i++) {
    const IrParam *param = &kernel->params.items[i];
    g_string_append_printf(w->out, "  alignas(64) unsigned char p%d[%" G_GUINT64_FORMAT "] = {};\n",
                           i, MAX(param->bytes, 1));
    for (int j = 0; j < param->leaves.count; j++)
      if (!put_leaf(w, i, param, &param->leaves.items[j])) return false;
  }
  g_string_append(w->out, "  void *arguments[] = {");
  for (int i = 0; i < kernel->params.count; i++)
    g_string_append_printf(w->out, "p%d, ", i);
  g_string_append(w->out, "nullptr};\n");
  return true;
}

/* ---- variables in device memory ---- */

static bool is_map_in(const IrObject *object, uint64_t address) {
  return address >= object->address && address + 128 <= object->address + object->bytes;
}

/* Encodes the maps that copies were issued with from `object`. */
static bool put_object_maps(Writer *w, const IrObject *object, bool *any) {
  const MachineResult *result = w->input->result;
  for (int i = 0; i < result->maps.count; i++) {
    uint64_t address = result->maps.items[i].address;
    if (!is_map_in(object, address)) continue;
    g_autofree char *buffer = g_strdup_printf("symbol_map%d", i);
    *any = true;
    g_string_append_printf(w->out, "  alignas(64) unsigned char %s[128] = {};\n", buffer);
    if (!repro_put_map(w->input, address, buffer, 0, object->name, w->out, w->error)) return false;
    g_string_append_printf(
        w->out, "\n  must(cudaMemcpyToSymbol(%s, %s, 128, %" G_GUINT64_FORMAT "), \"%s\");\n",
        object->name, buffer, address - object->address, object->name);
  }
  return true;
}

/* What the kernel keeps in __device__ variables is restored between runs. */
static bool put_objects(Writer *w) {
  const IrKernel *kernel = w->input->kernel;
  for (int i = 0; i < kernel->objects.count; i++) {
    const IrObject *object = &kernel->objects.items[i];
    bool constant = object->space == IR_SPACE_CONST;
    bool any = false;
    if ((!constant && object->space != IR_SPACE_GLOBAL) || !object->name || !object->bytes)
      continue;
    if (strspn(object->name, NAME_CHARACTERS) != strlen(object->name)) continue;
    if (!put_object_maps(w, object, &any)) return false;
    if (!constant && !any && object->bytes >= 4 && object->bytes % 4 == 0 && !object->read_only)
      g_string_append_printf(w->out, "  variable(\"%s\", %s);\n", object->name, object->name);
  }
  return true;
}

/* ---- the program ---- */

static void append_comment(GString *out, const char *label, const char *text) {
  g_autofree char *line = g_strdelimit(g_strdup(text), "\n\r", ' ');
  g_string_append_printf(out, "// %s%s\n", label, line);
}

static void append_head(const ReproInput *input, const MachineReplay *replay, GString *out) {
  const Finding *f = input->finding;
  g_string_append_printf(out, "// Shows %s at %s:%d, in %s. Written by kcheck %s.\n", f->rule,
                         f->path, f->line, input->kernel->instantiation, KCHECK_VERSION);
  append_comment(out, "", f->message);
  if (replay->block_guessed)
    g_string_append(out, "// The file does not say how many threads a block has: kcheck chose.\n");
  g_string_append_printf(
      out,
      "//\n// build: nvcc %s -gencode arch=compute_%s,code=sm_%s repro.cu -o repro\n"
      "// run:   ./repro    one line, after at most a few seconds: hang, error, wrong, launch "
      "refused, or nothing seen\n"
      "// exit:  0 the fault showed, 1 it did not, 2 it could not be run here\n",
      input->flags, input->target, input->target);
  g_string_append_printf(out,
                         "#define main kcheck_main_of_the_file\n#include \"%s\"\n#undef main\n\n",
                         input->include);
}

static int64_t shared_bytes(const ReproInput *input, const MachineReplay *replay) {
  if (replay->dynamic_smem >= 0) return replay->dynamic_smem;
  return input->result->dynamic_smem_end;
}

static void append_launch(const ReproInput *input, const MachineReplay *replay, GString *out) {
  const IrKernel *kernel = input->kernel;
  bool opt_in = strcmp(input->finding->rule, "smem-optin-missing") != 0;
  const int64_t *dims[] = {replay->grid, replay->block, replay->cluster};
  g_string_append_printf(out, "  return run({address_of(%s%s)", kernel->scope ? kernel->scope : "",
                         kernel->instantiation);
  for (int d = 0; d < 3; d++)
    g_string_append_printf(out,
                           ",\n              dim3(%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                           ", %" G_GINT64_FORMAT ")",
                           dims[d][0], dims[d][1], dims[d][2]);
  bool early = g_str_has_prefix(input->finding->rule, "pdl-");
  g_string_append_printf(out, ", %" G_GINT64_FORMAT ", %s, %s, arguments});\n}\n",
                         shared_bytes(input, replay), opt_in ? "true" : "false",
                         early ? "true" : "false");
}

/* "a::b::" */
static void append_using(GString *out, const char *scope) {
  g_autofree char *name = g_strdup(scope);
  while (g_str_has_suffix(name, "::"))
    name[strlen(name) - 2] = 0;
  if (*name && strspn(name, NAME_CHARACTERS) == strlen(name))
    g_string_append_printf(out, "  using namespace %s;\n", name);
}

bool repro_write(const ReproInput *input, GString *out, KcError *error) {
  const MachineReplay *replay = replay_of(input);
  if (!check_engine(input, error) || !check_kernel(input, replay, error)) return false;
  const char *harness = kc_data_get("knowledge/repro/harness.h", NULL);
  if (!harness) return kc_fail(error, NULL, 0, 0, "knowledge/repro/harness.h is missing");
  int number = (int)g_ascii_strtoll(input->target, NULL, 10);
  bool suffixed = !g_ascii_isdigit(input->target[strlen(input->target) - 1]);
  g_autoptr(GString) body = g_string_new(NULL);
  Writer writer = {input, replay, body, error, 0};
  g_string_append_printf(
      body, "\nint main() {\n  using namespace kcheck_repro;\n  need_device(%d, %d, %s);\n",
      number / 10, number % 10, suffixed ? "true" : "false");
  if (input->kernel->scope && *input->kernel->scope) append_using(body, input->kernel->scope);
  if (!put_objects(&writer) || !put_arguments(&writer)) return false;
  append_launch(input, replay, body);
  append_head(input, replay, out);
  g_string_append(out, harness);
  g_string_append(out, body->str);
  return true;
}
