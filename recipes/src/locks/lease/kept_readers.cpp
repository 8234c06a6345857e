#include "kept_readers.hpp"

#include "kept_reader_node.hpp"

namespace zklock::detail {

KeptReaders::Entry::~Entry() {
  if (node_) node_->take_back_unused();
}

KeptReaders::Entry KeptReaders::enter() const {
  auto found = node();
  if (!found || !found->enter()) return {};
  return Entry{std::move(found)};
}

std::shared_ptr<KeptReaderNode> KeptReaders::node() const {
  std::shared_ptr<KeptReaderNode> found;
  {
    const std::lock_guard guard{mutex_};
    found = node_.lock();
  }
  return found && !found->is_asked() ? found : nullptr;
}

void KeptReaders::become(const std::shared_ptr<KeptReaderNode>& node) {
  const std::lock_guard guard{mutex_};
  node_ = node;
}

}  // namespace zklock::detail
