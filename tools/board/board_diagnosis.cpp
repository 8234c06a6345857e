#include "board_diagnosis.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace zklock::tools {
namespace {

constexpr std::size_t max_tree = 200;
constexpr std::size_t max_findings = 100;
constexpr std::chrono::seconds stuck_after{60};

}  // namespace

void BoardDiagnosis::examine(const LockBoard& board, LockBoard::Time now) {
  Survey survey = board.survey();
  // At least a second: the machine's clock may step back.
  const auto passed = std::max(std::chrono::round<std::chrono::seconds>(now - before_at_), std::chrono::seconds{1});
  findings_ = find_all(before_, survey, {passed, stuck_after, now});
  if (findings_.size() > max_findings) findings_.resize(max_findings);
  std::vector<WaitQueue> queues;
  for (const LockDirectory& directory : survey.directories)
    if (board.lock_of(directory.path) == directory.path)  // the first one in a semaphore's wait queue holds nothing
      queues.insert(queues.end(), directory.queues.begin(), directory.queues.end());
  tree_ = blocking_tree(queues, max_tree);
  before_ = std::move(survey);
  before_at_ = now;
  calls_ = std::min(calls_ + 1, 2);
}

}  // namespace zklock::tools
