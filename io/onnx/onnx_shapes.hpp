// SPDX-License-Identifier: Apache-2.0
//
// Shapes of an ONNX model's tensors: libonnx's own inference, and rules for what it leaves open.
#pragma once

#include <onnx/onnx_pb.h>

#include "io/reader_common.hpp"

namespace ebb {

// Fills in value_info of the model's graph as far as shapes can be known, and says what went wrong. Throws InputError
// (without a file's name) where a node lacks an attribute that its op requires.
void InferOnnxShapes(onnx::ModelProto& model, Warnings& warnings);

}  // namespace ebb
