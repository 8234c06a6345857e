#include "c_client_multi.hpp"

#include "c_client_calls.hpp"

#include <cstring>

namespace zklock {

NativeAcl::NativeAcl(const Acl& acl) : vector_{} {
  for (const AclEntry& entry : acl)  // the library only reads them
    entries_.push_back({static_cast<int>(entry.permissions),
                        {const_cast<char*>(entry.scheme.c_str()), const_cast<char*>(entry.id.c_str())}});
  vector_ = {static_cast<std::int32_t>(entries_.size()), entries_.data()};
}

Stat to_stat(const ::Stat& stat) {
  const auto to_time = [](std::int64_t ms) {
    return std::chrono::system_clock::time_point{std::chrono::milliseconds{ms}};
  };
  return {.czxid = stat.czxid,
          .mzxid = stat.mzxid,
          .pzxid = stat.pzxid,
          .created = to_time(stat.ctime),
          .modified = to_time(stat.mtime),
          .version = stat.version,
          .cversion = stat.cversion,
          .aversion = stat.aversion,
          .ephemeral_owner = stat.ephemeralOwner,
          .data_length = stat.dataLength,
          .num_children = stat.numChildren};
}

MultiCall::MultiCall(std::vector<Request> parts) : ops_(parts.size()), results_(parts.size()) {
  for (Request& part : parts) {
    operations_.push_back(part.operation);
    parts_.emplace_back(std::move(part));
  }
  auto op = ops_.begin();
  for (Part& part : parts_) describe(part, *op++);
}

void MultiCall::describe(Part& part, zoo_op_t& op) {
  const Request& request = part.request;
  const char* path = request.path.c_str();
  const int length = static_cast<int>(request.data.size());
  switch (request.operation) {
    case Operation::create:
      part.created_path.resize(request.path.size() + 16);  // the server's digits, and a NUL
      return zoo_create_op_init(&op, path, request.data.data(), length, part.acl.get(), static_cast<int>(request.mode),
                                part.created_path.data(), static_cast<int>(part.created_path.size()));
    case Operation::remove: return zoo_delete_op_init(&op, path, request.version);
    case Operation::set_data:
      return zoo_set_op_init(&op, path, request.data.data(), length, request.version, &part.stat);
    default: return zoo_check_op_init(&op, path, request.version);
  }
}

int MultiCall::submit(zhandle_t* handle, void_completion_t completion, const void* context) {
  return zoo_amulti(handle, static_cast<int>(ops_.size()), ops_.data(), results_.data(), completion, context);
}

/// For a failed transaction the server names the part that failed; the parts before it have no error, those after it
/// -2.
Reply MultiCall::to_reply(int rc) const {
  Reply reply{.error = from_rc(rc)};
  const bool refused = rc != ZOK && outcome_of(reply.error) == Outcome::not_applied;
  bool found = false;
  auto result = results_.begin();
  for (const Part& part : parts_) {
    const bool culprit = refused && !found && result->err == rc;
    found = found || culprit;
    Reply each = reply_of(part, rc, rc != ZOK);
    if (refused && !culprit) each.error = make_error_code(Error::rolled_back);
    reply.parts.push_back(std::move(each));
    ++result;
  }
  return reply;
}

Reply MultiCall::reply_of(const Part& part, int rc, bool failed) const {
  Reply reply{.error = from_rc(rc)};
  if (failed) return reply;
  if (part.request.operation == Operation::create) reply.path = part.created_path.c_str();
  if (part.request.operation == Operation::set_data) reply.stat = to_stat(part.stat);
  return reply;
}

}  // namespace zklock
