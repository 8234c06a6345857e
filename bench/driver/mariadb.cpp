// MariaDB: GET_LOCK and RELEASE_LOCK. A lock belongs to its connection, and ends with it; it lives on one server, in
// memory.
#include "blocking_lock.hpp"

#include <stdexcept>

#include <mysql.h>

namespace zklock::bench {
namespace {

class MariadbLock : public BlockingLock {
 public:
  MariadbLock(const std::string& server, const std::string& name)
      : get_{"SELECT GET_LOCK('" + name + "', 1)"},
        try_{"SELECT GET_LOCK('" + name + "', 0)"},
        release_{"SELECT RELEASE_LOCK('" + name + "')"} {
    const auto colon = server.rfind(':');
    const auto port = static_cast<unsigned>(std::stoi(server.substr(colon + 1)));
    connection_.reset(mysql_init(nullptr));
    if (mysql_real_connect(connection_.get(), server.substr(0, colon).c_str(), "root", "", nullptr, port, nullptr, 0) ==
        nullptr)
      throw std::runtime_error{std::string{"MariaDB: "} + mysql_error(connection_.get())};
  }
  bool acquire(const Window& window) override {
    while (!ask(get_)) {
      if (window.stopping()) return false;
    }
    return true;
  }
  bool try_acquire() override { return ask(try_); }
  void release() override {
    if (!ask(release_)) throw std::runtime_error{"the lock was lost in MariaDB"};
  }

 private:
  struct Close {
    void operator()(MYSQL* connection) const { mysql_close(connection); }
    void operator()(MYSQL_RES* result) const { mysql_free_result(result); }
  };

  /// True: the reply is 1.
  bool ask(const std::string& statement) {
    MYSQL* connection = connection_.get();
    if (mysql_real_query(connection, statement.data(), statement.size()) != 0)
      throw std::runtime_error{std::string{"MariaDB: "} + mysql_error(connection)};
    const std::unique_ptr<MYSQL_RES, Close> result{mysql_store_result(connection)};
    MYSQL_ROW row = result ? mysql_fetch_row(result.get()) : nullptr;
    return row != nullptr && row[0] != nullptr && row[0][0] == '1';
  }

  std::unique_ptr<MYSQL, Close> connection_;
  std::string get_;
  std::string try_;
  std::string release_;
};

}  // namespace

LockFactory mariadb_locks(const Task& task) {
  return [task](std::size_t waiter) { return std::make_unique<MariadbLock>(task.servers, task.lock_path(waiter)); };
}

}  // namespace zklock::bench
