// The requests that a Session can make, for tests that try each of them.
#pragma once

#include "await.hpp"
#include "frame_proxy.hpp"

#include <zklock/session.hpp>

#include <span>
#include <string>

namespace zklock::test {

/// A kind of request, tried on a node whose data is "old" and whose only child is named "child".
struct RequestKind {
  const char* name;
  Opcode opcode;
  void (*start)(const Session&, const std::string& path, Pending<>&);
  /// Whether it has been done; null for reads.
  bool (*applied)(const Session&, const std::string& path) = nullptr;
  /// The error of a second request if the first one has been done.
  error_code repeated{};
  bool ends_with_session = false;
};

/// All kinds: a new operation of Session is one more entry.
std::span<const RequestKind> request_kinds();

}  // namespace zklock::test
