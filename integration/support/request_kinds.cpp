#include "request_kinds.hpp"

#include "fixture.hpp"

#include <algorithm>
#include <stdexcept>

namespace zklock::test {
namespace {

/// The handler of an operation whose results do not matter.
auto outcome_into(Pending<>& pending) {
  return [handler = pending.handler()](error_code error, const auto&...) mutable { handler(error); };
}

bool has(const Session& session, const std::string& path) {
  const auto [error, stat] =
      outcome_of_operation<std::optional<Stat>>([&](auto token) { session.async_exists(path, std::move(token)); });
  if (error) throw boost::system::system_error{error, path};
  return stat.has_value();
}

bool has_new(const Session& session, const std::string& path) { return has(session, path + "/new"); }
bool has_no_child(const Session& session, const std::string& path) { return !has(session, path + "/child"); }
bool has_new_data(const Session& session, const std::string& path) {
  const auto [error, result] =
      outcome_of_operation<DataResult>([&](auto token) { session.async_get_data(path, std::move(token)); });
  if (error) throw boost::system::system_error{error, path};
  return result.data == "new";
}
bool has_numbered(const Session& session, const std::string& path) {
  const auto children = children_of(session, path);
  return std::any_of(children.begin(), children.end(), [](const auto& name) { return name.starts_with("n-"); });
}

bool has_new_acl(const Session& session, const std::string& path) {
  const auto [error, result] =
      outcome_of_operation<AclResult>([&](auto token) { session.async_get_acl(path, std::move(token)); });
  if (error) throw boost::system::system_error{error, path};
  return result.acl != open_acl();
}
bool has_new_in_place_of_child(const Session& session, const std::string& path) {
  const bool applied = has_new(session, path);
  if (has_no_child(session, path) != applied) throw std::runtime_error{"half of a transaction has been applied"};
  return applied;
}

template <CreateMode mode>
void create(const Session& session, const std::string& path, Pending<>& pending) {
  session.async_create(path + (is_sequential(mode) ? "/n-" : "/new"), "", mode, outcome_into(pending));
}

const RequestKind kinds[] = {
    {"create", Opcode::create2, create<CreateMode::persistent>, has_new, Error::node_exists},
    {"create ephemeral", Opcode::create2, create<CreateMode::ephemeral>, has_new, Error::node_exists, true},
    {"create sequential", Opcode::create2, create<CreateMode::persistent_sequential>, has_numbered},
    {"create ephemeral sequential", Opcode::create2, create<CreateMode::ephemeral_sequential>, has_numbered, {}, true},
    {"create container", Opcode::create_container, create<CreateMode::container>, has_new, Error::node_exists},
    {"create with a time to live", Opcode::create_ttl,
     [](const Session& session, const std::string& path, Pending<>& pending) {
       session.async_create(path + "/new", "", {CreateMode::persistent_ttl, 1h}, outcome_into(pending));
     },
     has_new, Error::node_exists},
    {"remove", Opcode::remove,
     [](const Session& session, const std::string& path, Pending<>& pending) {
       session.async_remove(path + "/child", outcome_into(pending));
     },
     has_no_child, Error::no_node},
    {"remove a version", Opcode::remove,
     [](const Session& session, const std::string& path, Pending<>& pending) {
       session.async_remove(path + "/child", 0, outcome_into(pending));
     },
     has_no_child, Error::no_node},
    {"set data", Opcode::set_data,
     [](const Session& session, const std::string& path, Pending<>& pending) {
       session.async_set_data(path, "new", outcome_into(pending));
     },
     has_new_data},
    {"set a version's data", Opcode::set_data,
     [](const Session& session, const std::string& path, Pending<>& pending) {
       session.async_set_data(path, "new", 0, outcome_into(pending));
     },
     has_new_data, Error::bad_version},
    {"exists", Opcode::exists,
     [](const Session& session, const std::string& path, Pending<>& pending) {
       session.async_exists(path, outcome_into(pending));
     }},
    {"exists and watch", Opcode::exists,
     [](const Session& session, const std::string& path, Pending<>& pending) {
       session.async_exists_and_watch(path, outcome_into(pending));
     }},
    {"get data", Opcode::get_data,
     [](const Session& session, const std::string& path, Pending<>& pending) {
       session.async_get_data(path, outcome_into(pending));
     }},
    {"get data and watch", Opcode::get_data,
     [](const Session& session, const std::string& path, Pending<>& pending) {
       session.async_get_data_and_watch(path, outcome_into(pending));
     }},
    {"get children", Opcode::get_children2,
     [](const Session& session, const std::string& path, Pending<>& pending) {
       session.async_get_children(path, outcome_into(pending));
     }},
    {"get children and watch", Opcode::get_children2,
     [](const Session& session, const std::string& path, Pending<>& pending) {
       session.async_get_children_and_watch(path, outcome_into(pending));
     }},
    {"get ACL", Opcode::get_acl,
     [](const Session& session, const std::string& path, Pending<>& pending) {
       session.async_get_acl(path, outcome_into(pending));
     }},
    {"set a version's ACL", Opcode::set_acl,
     [](const Session& session, const std::string& path, Pending<>& pending) {
       const Acl acl{{Permission::read | Permission::admin, "world", "anyone"}};
       session.async_set_acl(path, acl, 0, outcome_into(pending));
     },
     has_new_acl, Error::bad_version},
    {"get the configuration", Opcode::get_data,
     [](const Session& session, const std::string&, Pending<>& pending) {
       session.async_get_config(outcome_into(pending));
     }},
    {"get the configuration and watch", Opcode::get_data,
     [](const Session& session, const std::string&, Pending<>& pending) {
       session.async_get_config_and_watch(outcome_into(pending));
     }},
    {"commit", Opcode::multi,
     [](const Session& session, const std::string& path, Pending<>& pending) {
       Transaction exchange;
       exchange.create(path + "/new", "").remove(path + "/child");
       session.async_commit(exchange, outcome_into(pending));
     },
     has_new_in_place_of_child, Error::node_exists},
    {"sync", Opcode::sync,
     [](const Session& session, const std::string& path, Pending<>& pending) {
       session.async_sync(path, outcome_into(pending));
     }},
};

}  // namespace

std::span<const RequestKind> request_kinds() { return kinds; }

}  // namespace zklock::test
