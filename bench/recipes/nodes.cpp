#include "orders.hpp"

#include <zklock/recipes/nodes/group_member.hpp>
#include <zklock/timer.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <chrono>
#include <deque>
#include <iomanip>
#include <iostream>
#include <stdexcept>

#include <unistd.h>

namespace zklock::bench {
namespace {

using namespace std::chrono_literals;

/// Waits until each of them has a member of this id, or until none has. It asks again and again, as users of Curator's
/// GroupMember have to.
asio::awaitable<void> all_show(const std::deque<GroupMember>& views, std::string id, bool there) {
  Timer timer{co_await asio::this_coro::executor};
  for (const GroupMember& view : views) {
    while (view.members().members.contains(id) != there) {
      timer.expires_after(200us);
      co_await timer.async_wait(asio::deferred);
    }
  }
}

asio::awaitable<void> come_and_go(const Client& client, const std::deque<GroupMember>& views, Work& work) {
  do {
    const std::int64_t started = now();
    const GroupMember comer{client, views.front().group().path(), "comer"};
    co_await all_show(views, comer.id(), true);
    work.add("joined", started, now());
    const std::int64_t closed = now();
    co_await comer.async_close();
    co_await all_show(views, comer.id(), false);
    work.add("left", closed, now());
  } while (!work.stopping());
}

/// When a kept node's client got its session, and when the node was there, each the last time.
struct Times {
  std::atomic<std::int64_t> connected{0};
  std::atomic<std::int64_t> present{0};
  std::atomic<std::int64_t> czxid{0};
};

asio::awaitable<void> note_connections(StateStream states, Times& times) {
  for (;;) {
    const auto [error, state] = co_await states.async_next(asio::as_tuple(asio::deferred));
    if (error) co_return;
    if (state == ConnectionState::connected || state == ConnectionState::reconnected) times.connected = now();
  }
}

asio::awaitable<void> note_presence(NodeStateStream states, Times& times) {
  for (;;) {
    const auto [error, state] = co_await states.async_next(asio::as_tuple(asio::deferred));
    if (error) co_return;
    if (state.phase != NodePhase::present) continue;
    times.present = now();
    times.czxid = state.czxid;
  }
}

/// How long it takes to create a node beside the kept one. It goes with the session.
asio::awaitable<std::int64_t> create_another(const Client& client, std::string path) {
  const std::int64_t asked = now();
  co_await client.async_create(path + "-", "data", CreateOptions{CreateMode::ephemeral_sequential});
  co_return now() - asked;
}

std::string credentials_of(const Client& client) {
  const SessionCredentials credentials = client.session().credentials();
  std::ostringstream line;
  line << R"({"end": ")" << credentials.id << ' ' << std::hex << std::setfill('0');
  for (const char byte : credentials.password)
    line << std::setw(2) << static_cast<unsigned>(static_cast<unsigned char>(byte));
  line << "\"}";
  return line.str();
}

}  // namespace

void member(const Task& task) {
  Client client{
      {.connect_string = task.servers, .session_timeout = std::chrono::milliseconds{task.session_timeout_ms}}};
  const GroupMember self{client, task.path, std::to_string(::getpid())};
  if (!self.group().wait_for(task.waiters, 50s)) throw std::runtime_error{"the group is not complete"};
  GroupChangeStream changes = self.group().changes();
  say("ready");
  for (;;) {
    const GroupChange change = changes.next();
    if (change.kind == GroupChangeKind::left)
      say(R"({"left": )" + change.id + R"(, "at": )" + std::to_string(now()) + "}");
  }
}

void comer(const Task& task) {
  Clients clients;
  clients.connect(task, task.clients);
  std::deque<GroupMember> views;
  for (std::size_t i = 1; i < task.clients; ++i)
    views.emplace_back(clients.all()[i], task.path, "member-" + std::to_string(i));
  for (const GroupMember& view : views)
    if (!view.group().wait_for(views.size(), 50s)) throw std::runtime_error{"the group is not complete"};
  obey({{"run", [&](std::istringstream& words) {
           Work work;
           Work::Workers workers;
           workers.push_back(come_and_go(clients.all().front(), views, work));
           work.run(clients, words, std::move(workers));
           return work.answer();
         }}});
}

void kept_node(const Task& task) {
  Clients clients;
  clients.connect(task, 1);
  const Client& client = clients.all().front();
  Times times;
  const PersistentNode node{client, task.path, "data"};
  asio::co_spawn(clients.context(), note_connections(client.states(), times), asio::detached);
  asio::co_spawn(clients.context(), note_presence(node.states(), times), asio::detached);
  node.wait_present();
  std::int64_t last = node.state().czxid;
  obey({{"session", [&](std::istringstream&) { return credentials_of(client); }},
        {"await", [&](std::istringstream&) {
           const auto latest = std::chrono::steady_clock::now() + 20s;
           while (times.czxid == last) {
             if (std::chrono::steady_clock::now() > latest) throw std::runtime_error{"the node does not come back"};
             std::this_thread::sleep_for(200us);
           }
           last = times.czxid;
           const std::int64_t created =
               asio::co_spawn(clients.context(), create_another(client, task.path), asio::use_future).get();
           std::ostringstream line;
           line << R"({"present_us": )" << static_cast<double>(times.present - times.connected) * 1e-3
                << R"(, "create_us": )" << static_cast<double>(created) * 1e-3 << "}";
           return line.str();
         }}});
}

}  // namespace zklock::bench
