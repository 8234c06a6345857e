#include "orders.hpp"

#include <zklock/timer.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <chrono>
#include <future>
#include <numeric>

namespace zklock::bench {
namespace {

struct Write {
  std::size_t leaf = 0;
  std::int64_t mzxid = 0;
  std::int64_t at = 0;  ///< of the reply, in nanoseconds
};

/// A node with directories, which have the leaves. All functions but the loops are called by the main thread.
class Tree {
 public:
  explicit Tree(const Task& task) : path_{task.path} { clients_.connect(task, 2); }

  std::string plant(std::size_t directories, std::size_t leaves, std::size_t bytes) {
    data_ = std::string(bytes, 'x');
    paths_.clear();
    mzxids_.clear();
    fixed_ = {create_all({path_})};
    std::vector<std::string> inner;
    for (std::size_t i = 0; i < directories; ++i) inner.push_back(path_ + "/" + std::to_string(i));
    fixed_.push_back(create_all(inner));
    for (const std::string& directory : inner)
      for (std::size_t i = 0; i < leaves / directories; ++i) paths_.push_back(directory + "/" + std::to_string(i));
    mzxids_ = create_all(paths_);
    return digest();
  }

  /// Writes some leaves, others than the last time.
  std::string change(std::size_t number) {
    std::vector<std::pair<std::size_t, std::future<Stat>>> under_way;
    for (std::size_t i = 0; i < number; ++i) {
      const std::size_t leaf = next_leaf();
      under_way.emplace_back(leaf, writer().async_set_data(paths_[leaf], data_, asio::use_future));
    }
    for (auto& [leaf, stat] : under_way) mzxids_[leaf] = stat.get().mzxid;
    return digest();
  }

  /// Writes the leaves in turn, so many a second, and beside it reads one every 10 ms, by another session.
  std::string load(std::size_t rate, std::chrono::milliseconds length) {
    writes_.clear();
    std::vector<double> reads;
    const auto until = std::chrono::steady_clock::now() + length;
    auto reading = asio::co_spawn(clients_.context(), read(until, reads), asio::use_future);
    asio::co_spawn(clients_.context(), write(rate, until), asio::use_future).get();
    reading.get();
    while (answered_ < writes_.size()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    for (const Write& each : writes_) mzxids_[each.leaf] = std::max(mzxids_[each.leaf], each.mzxid);
    std::ranges::sort(reads);
    std::ostringstream line;
    line << R"({"tree": )" << digest() << R"(, "read_p50_us": )" << reads.at(reads.size() / 2) << R"(, "read_p99_us": )"
         << reads.at(reads.size() * 99 / 100) << R"(, "writes": [)";
    for (const char* separator = ""; const Write& each : writes_) {
      line << separator << "[\"" << paths_[each.leaf] << "\", " << each.mzxid << ", " << each.at << ']';
      separator = ", ";
    }
    line << "]}";
    return line.str();
  }

 private:
  [[nodiscard]] Client& writer() { return clients_.all().front(); }
  std::size_t next_leaf() {
    constexpr std::size_t stride = 7919;  // a prime: the leaves that follow one another are far apart
    return (leaf_ += stride) %= paths_.size();
  }
  std::vector<std::int64_t> create_all(const std::vector<std::string>& paths) {
    std::vector<std::future<CreateResult>> made;
    for (const std::string& path : paths)
      made.push_back(writer().async_create(path, data_, CreateOptions{CreateMode::persistent}, asio::use_future));
    std::vector<std::int64_t> mzxids;
    for (auto& each : made) mzxids.push_back(each.get().stat.mzxid);
    return mzxids;
  }
  [[nodiscard]] std::string digest() const {
    std::size_t count = mzxids_.size();
    std::int64_t sum = std::reduce(mzxids_.begin(), mzxids_.end());
    for (const auto& part : fixed_) {
      count += part.size();
      sum += std::reduce(part.begin(), part.end());
    }
    return R"({"count": )" + std::to_string(count) + R"(, "sum": )" + std::to_string(sum) + "}";
  }

  asio::awaitable<void> write(std::size_t rate, std::chrono::steady_clock::time_point until) {
    const auto began = std::chrono::steady_clock::now();
    answered_ = 0;
    for (auto time = began; time < until; time = std::chrono::steady_clock::now()) {
      const double due = std::chrono::duration<double>{time - began}.count() * static_cast<double>(rate);
      while (static_cast<double>(writes_.size()) < due) {
        const std::size_t number = writes_.size();
        const std::size_t leaf = next_leaf();
        writes_.push_back({leaf});
        writer().async_set_data(paths_[leaf], data_, [this, number](error_code error, const Stat& stat) {
          if (!error) writes_[number].mzxid = stat.mzxid;
          writes_[number].at = now();
          ++answered_;
        });
      }
      Timer timer{clients_.context(), std::chrono::milliseconds{1}};
      co_await timer.async_wait(asio::deferred);
    }
  }
  asio::awaitable<void> read(std::chrono::steady_clock::time_point until, std::vector<double>& reads) {
    const Client& reader = clients_.all().back();
    while (std::chrono::steady_clock::now() < until) {
      const std::int64_t began = now();
      co_await reader.async_get_data(paths_.front());
      reads.push_back(static_cast<double>(now() - began) * 1e-3);
      Timer timer{clients_.context(), std::chrono::milliseconds{10}};
      co_await timer.async_wait(asio::deferred);
    }
  }

  std::string path_;
  std::string data_;
  std::vector<std::string> paths_;  // of the leaves
  std::vector<std::int64_t> mzxids_;
  std::vector<std::vector<std::int64_t>> fixed_;  // the others', which are not written
  std::size_t leaf_ = 0;
  std::vector<Write> writes_;
  std::atomic<std::size_t> answered_{0};
  Clients clients_;
};

}  // namespace

void tree(const Task& task) {
  Tree planted{task};
  obey({{"plant",
         [&](std::istringstream& words) {
           std::size_t directories = 0;
           std::size_t leaves = 0;
           std::size_t bytes = 0;
           words >> directories >> leaves >> bytes;
           return planted.plant(directories, leaves, bytes);
         }},
        {"change",
         [&](std::istringstream& words) {
           std::size_t number = 0;
           words >> number;
           return planted.change(number);
         }},
        {"load", [&](std::istringstream& words) {
           std::size_t rate = 0;
           int length = 0;
           words >> rate >> length;
           return planted.load(rate, std::chrono::milliseconds{length});
         }}});
}

}  // namespace zklock::bench
