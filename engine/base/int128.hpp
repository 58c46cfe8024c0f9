// SPDX-License-Identifier: Apache-2.0
//
// 128-bit integers for intermediate products of 64-bit ones; -Wpedantic wants the extension said aloud.
#pragma once

namespace ebb {
__extension__ using Int128 = __int128;
}  // namespace ebb
