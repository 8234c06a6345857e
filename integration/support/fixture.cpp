#include "fixture.hpp"

#include <unistd.h>

namespace zklock::test {

testing::TestServer& shared_server() {
  static testing::TestServer server;
  return server;
}

std::string fresh_path() {
  static int last = 0;
  return "/test/" + std::to_string(++last);
}

Client make_client(const testing::TestServer& server, std::chrono::milliseconds timeout) {
  return Client{{.connect_string = server.connect_string(),
                 .session_timeout = timeout,
                 .retry = ExponentialBackoffRetry{.base = 20ms, .max_retries = 8}}};
}

Session connected_session(const Client& client) {
  const auto [error, session] =
      outcome_of_operation<Session>([&](auto token) { client.async_session(after(20s), std::move(token)); });
  if (error) throw boost::system::system_error{error, "connected_session"};
  return session;
}

namespace {

/// A node that nobody may read, and a watch of its data from before. The node goes with this object.
struct UnreadableNode {
  const std::string path = "/unreadable";
  Client client;
  Session session = connected_session(client);
  Watch watch;

  explicit UnreadableNode(const testing::TestServer& server) : client{make_client(server)} {
    const NodeOptions options{CreateMode::ephemeral, open_acl()};
    check(std::get<0>(outcome_of_operation<CreateResult>(
        [&](auto token) { session.async_create(path, "", options, std::move(token)); })));
    auto read = outcome_of_operation<DataResult, Watch>(
        [&](auto token) { session.async_get_data_and_watch(path, std::move(token)); });
    check(std::get<0>(read));
    watch = std::move(std::get<2>(read));
    const Acl unreadable{{Permission::write, "world", "anyone"}};
    check(std::get<0>(outcome_of_operation<>(
        [&](auto token) { session.async_set_acl(path, unreadable, any_version, std::move(token)); })));
  }
  ~UnreadableNode() { client.close(); }
  UnreadableNode(const UnreadableNode&) = delete;

  static void check(error_code error) {
    if (error) throw boost::system::system_error{error, "an unreadable node"};
  }
};

}  // namespace

bool hides_events(const testing::TestServer& server) {
  UnreadableNode node{server};
  Pending<WatchEvent> event;
  node.watch.async_wait(event.handler());
  UnreadableNode::check(std::get<0>(outcome_of_operation<Stat>(
      [&](auto token) { node.session.async_set_data(node.path, "x", any_version, std::move(token)); })));
  UnreadableNode::check(sync(node.session));  // an event that was sent has come by now
  return !event.ready();
}

bool refuses_exists(const testing::TestServer& server) {
  const UnreadableNode node{server};
  const auto [error, stat] = outcome_of_operation<std::optional<Stat>>(
      [&](auto token) { node.session.async_exists(node.path, std::move(token)); });
  return error == Error::no_auth;
}

bool exists(const Session& session, const std::string& path) {
  const auto [error, stat] =
      outcome_of_operation<std::optional<Stat>>([&](auto token) { session.async_exists(path, std::move(token)); });
  return !error && stat;
}

error_code sync(const Session& session) {
  return std::get<0>(outcome_of_operation<>([&](auto token) { session.async_sync("/", std::move(token)); }));
}

std::vector<std::string> children_of(const Session& session, const std::string& path) {
  auto [error, children] =
      outcome_of_operation<ChildrenResult>([&](auto token) { session.async_get_children(path, std::move(token)); });
  if (error == Error::no_node) return {};
  if (error) throw boost::system::system_error{error, "children_of " + path};
  return std::move(children.names);
}

Lease acquire(const InterProcessMutex& mutex) {
  auto [error, lease] = outcome_of_operation<Lease>([&](auto token) { mutex.async_acquire(30s, std::move(token)); });
  if (error) throw boost::system::system_error{error, "acquire " + mutex.path()};
  return std::move(lease);
}

std::int64_t node_watches(const testing::TestServer& server) {
  const std::string data_watches = server.four_letter_word("wchs");  // it does not count child watches
  const auto number = data_watches.find("Total watches:");
  if (number == std::string::npos) throw std::runtime_error{"wchs says " + data_watches};
  return server.monitor("zk_watch_count") - std::stoll(data_watches.substr(number + 14));
}

bool is_kept_soon(const Session& session, const std::string& directory, const std::function<void()>& use_once) {
  std::vector<std::string> left;
  return eventually([&] {
    use_once();
    const auto before = std::exchange(left, children_of(session, directory));
    return left.size() == 1 && left == before;
  });
}

bool leaves_no_trace(const testing::TestServer& server, const Session& session, const std::string& path) {
  return eventually([&] { return children_of(session, path).empty() && server.monitor("zk_watch_count") == 0; });
}

}  // namespace zklock::test
