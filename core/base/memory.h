// What the process holds now and held at most, in bytes.
#pragma once

#include <cstddef>

namespace hstar {

size_t resident_memory();
size_t peak_memory();

}  // namespace hstar
