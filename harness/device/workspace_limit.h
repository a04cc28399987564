#include "harness/cnn/shape.h"
