// What a newcomer writes first.
#include "support/catch.hpp"

#include <zklock/client.hpp>
#include <zklock/recipes/barriers/distributed_barrier.hpp>
#include <zklock/recipes/caches/cache_views.hpp>
#include <zklock/recipes/leader/leader_latch.hpp>
#include <zklock/recipes/leader/leader_selector.hpp>
#include <zklock/recipes/locks/inter_process_multi_lock.hpp>
#include <zklock/recipes/locks/inter_process_mutex.hpp>
#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>
#include <zklock/recipes/locks/inter_process_semaphore.hpp>
#include <zklock/recipes/locks/inter_process_semaphore_mutex.hpp>
#include <zklock/recipes/locks/lock_registry.hpp>
#include <zklock/recipes/nodes/group.hpp>
#include <zklock/recipes/nodes/group_member.hpp>
#include <zklock/recipes/nodes/persistent_node.hpp>
#include <zklock/recipes/nodes/persistent_ttl_node.hpp>
#include <zklock/recipes/shared/shared_count.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include <chrono>
#include <string>
#include <type_traits>
#include <vector>

using namespace zklock;
using namespace std::chrono_literals;

namespace {

/// A Client that outlives the object, and one that does not.
template <class Recipe, class... Arguments>
inline constexpr bool wants_a_living_client =
    std::is_constructible_v<Recipe, Client&, Arguments...> && !std::is_constructible_v<Recipe, Client, Arguments...>;

static_assert(wants_a_living_client<InterProcessMutex, std::string>);
static_assert(wants_a_living_client<InterProcessMutex, const char*>);
static_assert(wants_a_living_client<InterProcessMutex, std::string, LockSettings>);
static_assert(wants_a_living_client<InterProcessReadWriteLock, std::string>);
static_assert(wants_a_living_client<InterProcessSemaphore, std::string, int>);
static_assert(wants_a_living_client<InterProcessSemaphoreMutex, std::string>);
static_assert(wants_a_living_client<InterProcessMultiLock, std::vector<std::string>>);
static_assert(wants_a_living_client<LockRegistry, std::string>);
static_assert(wants_a_living_client<LeaderLatch, std::string>);
static_assert(wants_a_living_client<LeaderSelector, std::string>);
static_assert(wants_a_living_client<DistributedBarrier, std::string>);
static_assert(wants_a_living_client<SharedCount, std::string, int>);
static_assert(wants_a_living_client<PersistentNode, std::string, std::string>);
static_assert(wants_a_living_client<PersistentTtlNode, std::string, std::chrono::milliseconds, std::string>);
static_assert(wants_a_living_client<Group, std::string>);
static_assert(wants_a_living_client<GroupMember, std::string, std::string>);
static_assert(wants_a_living_client<CuratorCache, std::string>);
static_assert(wants_a_living_client<NodeCache, std::string>);
static_assert(wants_a_living_client<PathChildrenCache, std::string>);
// A handle neither closes the Client nor keeps it open.
static_assert(std::is_constructible_v<InterProcessMutex, ClientHandle, std::string>);

static_assert(!std::is_constructible_v<Client, int>);
static_assert(!std::is_convertible_v<const char*, Client>);

}  // namespace

TEST_CASE("a client is made from a connect string alone") {
  const Client literal{"127.0.0.1:1"};
  CHECK(literal.config().connect_string == "127.0.0.1:1");
  const std::string text = "127.0.0.1:1/app";
  const Client named{text};
  CHECK(named.server_path("/a") == "/app/a");
}

TEST_CASE("a client is made on a context as on its executor") {
  asio::io_context context;
  const Client given{context, {.connect_string = "127.0.0.1:1", .session_timeout = 5s}};
  CHECK(given.config().session_timeout == 5s);
  const Client brief{context, "127.0.0.1:1"};
  const Client by_executor{context.get_executor(), "127.0.0.1:1"};
  for (const Client* client : {&given, &brief, &by_executor})
    CHECK(client->callback_executor() == asio::any_io_executor{context.get_executor()});
  asio::thread_pool pool{1};
  const Client on_pool{pool, "127.0.0.1:1"};
  CHECK(on_pool.callback_executor() == asio::any_io_executor{pool.get_executor()});
  pool.stop();
}

TEST_CASE("an empty object says so, and nothing else") {
  Lease empty;
  try {
    empty.async_release([](error_code) {});
    FAIL("it is no error");
  } catch (const boost::system::system_error& error) {
    CHECK(error.code() == Error::empty_object);
    CHECK(std::string{error.what()} == "this object is empty: it never got anything, or it was moved from [zklock:15]");
  }
}

TEST_CASE("a node is created without options") {
  const Client client{"127.0.0.1:1"};
  using Created = decltype(client.async_create("/a", "data"));
  static_assert(std::is_same_v<Created, decltype(client.async_create("/a", "data", CreateOptions{}))>);
  using Made = decltype(Session{}.async_create("/a", "data"));
  static_assert(std::is_same_v<Made, decltype(Session{}.async_create("/a", "data", NodeOptions{}))>);
  client.async_create("/a", "data", [](error_code, const CreateResult&) {});
  client.async_create("/a", "data", CreateOptions{}, [](error_code, const CreateResult&) {});
}
