#include "request_checks.hpp"

#include <zklock/path.hpp>

namespace zklock {

namespace {

// The largest value that fits beside the server's marks in a node's owner field (EphemeralType of ZooKeeper 3.8).
constexpr std::chrono::milliseconds longest_ttl{(std::int64_t{1} << 40) - 1};

std::size_t size_of(const std::string& text) noexcept { return 4 + text.size(); }

std::size_t size_of(const Acl& acl) noexcept {
  std::size_t size = 4;
  for (const AclEntry& entry : acl) size += 4 + size_of(entry.scheme) + size_of(entry.id);
  return size;
}

/// Source: zookeeper.jute of ZooKeeper 3.8.
std::size_t body_size(const Request& request) noexcept {
  constexpr std::size_t watch = 1, version = 4, flags = 4, ttl = 8, part_header = 9;
  switch (request.operation) {
    case Operation::create:
      return size_of(request.path) + size_of(request.data) + size_of(request.acl) + flags +
             (has_ttl(request.mode) ? ttl : 0);
    case Operation::set_data: return size_of(request.path) + size_of(request.data) + version;
    case Operation::set_acl: return size_of(request.path) + size_of(request.acl) + version;
    case Operation::remove:
    case Operation::check: return size_of(request.path) + version;
    case Operation::exists:
    case Operation::get_data:
    case Operation::get_children: return size_of(request.path) + watch;
    case Operation::get_acl:
    case Operation::sync: return size_of(request.path);
    case Operation::multi: break;
  }
  std::size_t size = part_header;  // the part that ends the multi
  for (const Request& part : request.parts) size += part_header + body_size(part);
  return size;
}

error_code validate_creation(const Request& request) noexcept {
  if (has_ttl(request.mode) != (request.ttl != std::chrono::milliseconds{0}))
    return make_error_code(Error::invalid_create_mode);
  if (request.ttl < std::chrono::milliseconds{0} || request.ttl > longest_ttl)
    return make_error_code(Error::invalid_timeout);
  return {};
}

error_code validate_one(const Request& request) noexcept {
  if (has_path_flaw(request)) return make_error_code(Error::invalid_path);
  const bool has_acl = request.operation == Operation::create || request.operation == Operation::set_acl;
  if (has_acl && !validate_acl(request.acl).empty()) return make_error_code(Error::invalid_acl);
  return request.operation == Operation::create ? validate_creation(request) : error_code{};
}

}  // namespace

bool has_path_flaw(const Request& request) noexcept {
  std::string_view path = request.path;
  const bool numbered = request.operation == Operation::create && is_sequential(request.mode);
  if (numbered && path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return static_cast<bool>(validate_path(path, std::nothrow));
}

std::size_t frame_size(const Request& request) noexcept {
  constexpr std::size_t header = 8;
  return header + body_size(request);
}

/// The C client cannot read the reply to a container's creation in a multi, and aborts [F127, F128].
error_code validate_part(const Request& part) noexcept {
  if (part.operation == Operation::create && (part.mode == CreateMode::container || has_ttl(part.mode)))
    return make_error_code(Error::invalid_create_mode);
  return validate_one(part);
}

error_code validate_request(const Request& request, std::size_t max_buffer) noexcept {
  if (frame_size(request) > max_buffer) return make_error_code(Error::payload_too_large);
  if (request.operation != Operation::multi) return validate_one(request);
  if (request.parts.empty()) return make_error_code(Error::invalid_transaction);
  for (const Request& part : request.parts)
    if (validate_part(part)) return make_error_code(Error::invalid_transaction);
  return {};
}

}  // namespace zklock
