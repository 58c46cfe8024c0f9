# SPDX-License-Identifier: Apache-2.0
"""Ebbtide and the other systems of the field side by side: what bench/run is made of."""
