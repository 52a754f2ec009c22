// All there is to compile is in the header.
#include "CStow.h"
