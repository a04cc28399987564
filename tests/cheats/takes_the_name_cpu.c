/* It calls itself "cpu", so that who asks for cpu gets one of the two, and whose figures they are cannot be seen; it
 * gives zeros. */
#include "shared/cheat.h"

static void cheat(tables *t)
{
    weighted(t, answer_zero);
    t->impl.name = "cpu";
}
CHEAT(takes_the_name_cpu)
