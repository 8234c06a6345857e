#include "session_request.hpp"

#include "request_checks.hpp"

namespace zklock::detail {

std::string from_server(const SessionHandle& session, const std::string& path) {
  return path.size() <= session.prefix().size() ? "/" : path.substr(session.prefix().size());
}

Acl choose_acl(const SessionHandle& session, std::optional<Acl> wanted, const std::string& path,
               CreateMode mode) noexcept try {
  if (wanted) return std::move(*wanted);
  const AclProvider& provider = session->config().acl_provider;
  if (!provider || has_path_flaw({.operation = Operation::create, .path = path, .mode = mode})) return open_acl();
  return provider(path_to_create(session, path, mode));
} catch (...) {
  return {};
}

std::string path_to_create(const SessionHandle& session, const std::string& path, CreateMode mode) {
  return is_sequential(mode) && path == "/" ? session.prefix() + "/" : full_path(session, path);
}

error_code complete_request(const SessionHandle& session, Request& request) {
  const auto complete = [&](Request& each) {
    if (has_path_flaw(each)) return;
    each.path = each.operation == Operation::create ? path_to_create(session, each.path, each.mode)
                                                    : full_path(session, each.path);
  };
  if (request.operation != Operation::multi) complete(request);
  for (Request& part : request.parts) complete(part);
  return validate_request(request, session->config().max_buffer);
}

}  // namespace zklock::detail
