/* nvcuda::wmma: fragments that a warp loads, multiplies and stores together. What the calls do to
 * memory is exact (each lane touches its share of the tile); which element a lane holds is left to
 * the hardware, so that the contents of fragments are unknown. (CUDA C++ Programming Guide, Warp
 * Matrix Functions; PTX ISA 9.7.14.4) */
#include "cuda/lower_internal.h"

#include <stdlib.h>
#include <string.h>

#define WARP_LANES 32

/* Lines of a tile that lie `ld` elements apart, and the elements of a line. */
typedef struct Tile {
  int64_t lines, length;
} Tile;

/* The tile of fragment<Use, m, n, k, T, Layout>; `row_major` is of the call for accumulators. */
static bool fragment_tile(Lower *l, const CppType *fragment, bool row_major, Tile *out) {
  const char *name = unit_type_name(l->unit, fragment->type);
  const char *arguments = strstr(name, "fragment<");
  if (!arguments) return false;
  const char *comma = strchr(arguments, ',');
  int64_t size[3] = {0};
  for (int i = 0; i < 3 && comma; i++) {
    size[i] = strtoll(comma + 1, NULL, 10);
    comma = strchr(comma + 1, ',');
  }
  int64_t m = size[0], n = size[1], k = size[2];
  if (m <= 0 || n <= 0 || k <= 0) return false;
  bool a = strstr(arguments, "matrix_a") != NULL, b = strstr(arguments, "matrix_b") != NULL;
  int64_t rows = b ? k : m, columns = a ? k : n;
  if (a || b) row_major = strstr(arguments, "row_major") != NULL;
  *out = row_major ? (Tile){rows, columns} : (Tile){columns, rows};
  return true;
}

static bool is_row_major(Lower *l, const Call *call, int index) {
  int64_t layout;
  return index >= call->nargs || lower_is_default_argument(l, call->args[index]) ||
         !lower_fold(l, call->args[index], NULL, &layout) || layout == 0;
}

/* The calling lane's share of the tile is touched, 8 bytes at a time where its size allows. */
static void touch(Lower *l, IrOperand pointer, const CppType *elem, IrOperand ld, Tile tile,
                  bool store) {
  int64_t share = tile.lines * tile.length / WARP_LANES;
  if (share <= 0 || tile.length % share || !elem->bytes) return;
  const CppType *word = cpp_scalar(l, CXType_UInt), *wide = cpp_scalar(l, CXType_ULongLong);
  IrOperand first = lower_binary(l, IR_mul, word->ir, ir_sreg(IR_SREG_laneid), ir_imm(share));
  IrOperand line = lower_binary(l, IR_div, word->ir, first, ir_imm(tile.length));
  IrOperand column = lower_binary(l, IR_rem, word->ir, first, ir_imm(tile.length));
  IrOperand element =
      lower_binary(l, IR_add, word->ir, lower_binary(l, IR_mul, word->ir, line, ld), column);
  IrOperand at = address_pin(
      l, address_index(l, pointer, lower_convert(l, element, word, wide), wide, elem->bytes));
  int64_t bytes = share * (int64_t)elem->bytes;
  const CppType *unit = bytes % 8 == 0   ? wide
                        : bytes % 4 == 0 ? word
                        : bytes % 2 == 0 ? cpp_scalar(l, CXType_UShort)
                                         : cpp_scalar(l, CXType_UChar);
  for (int64_t done = 0; done < bytes; done += (int64_t)unit->bytes) {
    if (store)
      lower_store(l, address_add(at, done), unit, ir_unknown(), false);
    else
      lower_load(l, address_add(at, done), unit, false);
  }
}

enum { LOAD, STORE };

/* load_matrix_sync(fragment, pointer, ld, layout), store_matrix_sync(pointer, fragment, ld, layout)
 */
static bool move_tile(Lower *l, const Call *call, int direction, IrOperand *result) {
  if (call->nargs < 3) return false;
  AstNode *fragment = call->args[direction == STORE], *pointer = call->args[direction != STORE];
  const CppType *type = cpp_referent(ast_type(l, fragment)), *from = ast_type(l, pointer);
  IrOperand address = lower_lvalue(l, fragment);
  IrOperand memory = address_pin(l, lower_decayed(l, pointer));
  IrOperand ld = lower_value_as(l, call->args[2], cpp_scalar(l, CXType_UInt));
  Tile tile;
  if (from->elem && fragment_tile(l, type, is_row_major(l, call, 3), &tile))
    touch(l, memory, from->elem, ld, tile, direction == STORE);
  if (direction == LOAD) lower_forget(l, address, type);
  *result = ir_unknown();
  return true;
}

static bool fill(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  if (call->nargs < 2) return false;
  lower_effect(l, call->args[1]);
  lower_forget(l, lower_lvalue(l, call->args[0]), cpp_referent(ast_type(l, call->args[0])));
  *result = ir_unknown();
  return true;
}

/* mma_sync(d, a, b, c, saturate) */
static bool multiply(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  if (call->nargs < 4) return false;
  IrOperand fragments[4];
  for (int i = 1; i < 4; i++)
    fragments[i] = lower_lvalue(l, call->args[i]);
  IrOperand d = lower_lvalue(l, call->args[0]);
  IrOperand args[2] = {address_pin(l, d), address_pin(l, fragments[3])};
  args[0].role = IR_ROLE_dst_addr;
  args[1].role = IR_ROLE_src_addr;
  IrInsn *event = lower_event(l, IR_EV_mma_sync, args, 2, IR_FLAG(aligned));
  event->shape.bytes = (uint32_t)cpp_referent(ast_type(l, call->args[3]))->bytes;
  lower_forget(l, d, cpp_referent(ast_type(l, call->args[0])));
  *result = ir_unknown();
  return true;
}

const LowerBuiltin *builtin_wmma(const char *name) {
  static const LowerBuiltin TABLE[] = {
      {"load_matrix_sync", move_tile, LOAD, true},
      {"store_matrix_sync", move_tile, STORE, true},
      {"fill_fragment", fill, 0, false},
      {"mma_sync", multiply, 0, true},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(TABLE); i++)
    if (strcmp(TABLE[i].name, name) == 0) return &TABLE[i];
  return NULL;
}
