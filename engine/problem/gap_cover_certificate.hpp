// SPDX-License-Identifier: Apache-2.0
//
// A proof of a lower bound on the duration, for the given order, that anyone can check with integers alone (format:
// docs/certificate.md; a checker that shares no code with us: tests/certificate/check_certificate.py).
//
// Claims. While the first execution of a row's op runs, the storage of a claim's tensor is either resident, or some of
// the charged ops run again between then and the first execution of `before` (or the end). A claim holds for the first
// executions strictly between `after` and `before`. Costs of claims on the same op add up to no more than its duration
// at any time, so the costs of broken claims add up to no more than what the reruns take. With a price per byte on each
// row, plans that save bytes at a row pay at least for the bytes that are missing:
//
//   additional duration  >=  sum over rows of price * (own + claimed bytes - budget)
//                          - sum over claims of max(0, bytes * sum of the prices of its rows - cost)       (/
//                          price_scale)
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/units.hpp"

namespace ebb {

struct GapCoverCertificate {
  struct Charge {
    OpId op;
    std::int64_t share;  // of one execution's duration, times cost_scale
  };
  struct Claim {
    TensorId tensor;              // a storage of its own
    OpId after, before;           // before: kNone is the end of the plan
    std::vector<Charge> charges;  // empty: the storage cannot be made again here (pinned_by), so it is resident
    OpId pinned_by = OpId::kNone;
  };
  struct Row {
    OpId op;
    std::int64_t price;  // > 0; duration per byte, times price_scale
  };
  // `op` makes `tensor`, whose storage `after` takes over and which `before` (kNone: the end) reads: one more run.
  struct Forced {
    OpId op;
    TensorId tensor;
    OpId after, before;
  };

  Bytes budget;
  Duration base_duration;  // one execution each
  Duration bound;          // what is proved
  std::int64_t cost_scale = 1, price_scale = 1;
  std::vector<Row> rows;  // by position
  std::vector<Claim> claims;
  std::vector<Forced> forced;
};

}  // namespace ebb
