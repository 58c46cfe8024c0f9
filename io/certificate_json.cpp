// SPDX-License-Identifier: Apache-2.0
#include "io/certificate_json.hpp"

#include <string_view>
#include <utility>

#include "engine/problem/fingerprint.hpp"
#include "io/atomic_file.hpp"
#include "io/json_text.hpp"

namespace ebb {
namespace {

class Writer {
 public:
  explicit Writer(const Graph& graph) : graph_(graph) {}

  void Text(std::string_view text) { out_ += text; }
  void Number(std::string_view key, std::int64_t value) {
    out_ += key;
    AppendInteger(out_, value);
  }
  void Op(std::string_view key, OpId op) {
    out_ += key;
    if (op == OpId::kNone)
      out_ += "null";
    else
      AppendJsonString(out_, graph_.op_name(op));
  }
  void Tensor(std::string_view key, TensorId tensor) {
    out_ += key;
    AppendJsonString(out_, graph_.tensor_name(tensor));
  }
  void String(std::string_view key, std::string_view text) {
    out_ += key;
    AppendJsonString(out_, text);
  }
  std::string Take() { return std::move(out_); }

  // `gap` stands after each comma, and before the first item where it is a line's end.
  template <class Range, class F>
  void List(std::string_view key, std::string_view gap, const Range& range, F f) {
    Text(key);
    bool first = true;
    for (const auto& item : range) {
      if (!first) Text(",");
      if (!first || gap == "\n") Text(gap);
      first = false;
      f(item);
    }
    Text("]");
  }

 private:
  const Graph& graph_;
  std::string out_;
};

}  // namespace

std::string CertificateToJson(const Graph& graph, const GapCoverCertificate& c) {
  Writer w(graph);
  w.Text("{\"format\": \"ebbtide-certificate\", \"version\": 1, \"kind\": \"gap-cover\",\n");
  w.String("\"graph\": {\"name\": ", graph.name());
  w.String(", \"fingerprint\": ", Fingerprint(graph));
  w.Number("},\n\"budget\": ", c.budget.count());
  w.Number(", \"order\": \"fixed\", \"base_duration\": ", c.base_duration.count());
  w.Number(", \"lower_bound\": ", c.bound.count());
  w.Number(", \"cost_scale\": ", c.cost_scale);
  w.Number(", \"price_scale\": ", c.price_scale);
  w.List(",\n\"rows\": [", "\n", c.rows, [&](const GapCoverCertificate::Row& r) {
    w.Op("{\"op\": ", r.op);
    w.Number(", \"price\": ", r.price);
    w.Text("}");
  });
  w.List(",\n\"claims\": [", "\n", c.claims, [&](const GapCoverCertificate::Claim& claim) {
    w.Tensor("{\"tensor\": ", claim.tensor);
    w.Op(", \"after\": ", claim.after);
    w.Op(", \"before\": ", claim.before);
    if (claim.pinned_by != OpId::kNone) {
      w.Op(", \"pinned_by\": ", claim.pinned_by);
    } else {
      w.List(", \"charges\": [", " ", claim.charges, [&](const GapCoverCertificate::Charge& charge) {
        w.Op("{\"op\": ", charge.op);
        w.Number(", \"share\": ", charge.share);
        w.Text("}");
      });
    }
    w.Text("}");
  });
  w.List(",\n\"forced\": [", "\n", c.forced, [&](const GapCoverCertificate::Forced& f) {
    w.Op("{\"op\": ", f.op);
    w.Tensor(", \"tensor\": ", f.tensor);
    w.Op(", \"after\": ", f.after);
    w.Op(", \"before\": ", f.before);
    w.Text("}");
  });
  if (!graph.order_was_given())  // then which order the bound is for has to be said
    w.List(",\n\"sequence\": [", " ", graph.order(), [&](OpId op) { w.Op("", op); });
  w.Text("}\n");
  return w.Take();
}

void WriteCertificate(const Graph& graph, const GapCoverCertificate& certificate, const std::filesystem::path& path) {
  AtomicFile target(path);
  target.Write(CertificateToJson(graph, certificate));
  target.Commit();
}

}  // namespace ebb
