/* Special registers (PTX ISA section 10) of a strand. */
#ifndef KC_MACHINE_SPECIAL_H
#define KC_MACHINE_SPECIAL_H

#include "machine/internal.h"

Value core_special(Machine *machine, Strand *strand, IrSpecial special);

#endif
