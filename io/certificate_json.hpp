// SPDX-License-Identifier: Apache-2.0
//
// Certificates as `ebbtide-certificate` files (docs/certificate.md): names instead of indices, one claim a line.
#pragma once

#include <filesystem>
#include <string>

#include "engine/problem/gap_cover_certificate.hpp"
#include "engine/problem/graph.hpp"

namespace ebb {

[[nodiscard]] std::string CertificateToJson(const Graph& graph, const GapCoverCertificate& certificate);
// Written aside and renamed; packed by the name's ending. Throws InputError with the full path.
void WriteCertificate(const Graph& graph, const GapCoverCertificate& certificate, const std::filesystem::path& path);

}  // namespace ebb
