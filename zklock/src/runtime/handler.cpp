#include <zklock/detail/handler.hpp>

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/recycling_allocator.hpp>

namespace zklock::detail {

Route post_to(const asio::any_io_executor& executor) {
  return {asio::prefer(executor, asio::execution::outstanding_work.tracked)};
}

void* KeptHandler::operator new(std::size_t size) { return asio::recycling_allocator<char>{}.allocate(size); }

void KeptHandler::operator delete(void* memory, std::size_t size) {
  asio::recycling_allocator<char>{}.deallocate(static_cast<char*>(memory), size);
}

void KeptHandler::post(KeptHandler* handler) {
  struct Destroy {
    void operator()(KeptHandler* kept) const noexcept { kept->destroy(); }
  };
  std::unique_ptr<KeptHandler, Destroy> kept{handler};
  const asio::any_io_executor executor = handler->route_.executor;
  asio::post(executor, [kept = std::move(kept)]() mutable { kept.release()->run(); });
}

}  // namespace zklock::detail
