#include <zklock/codec.hpp>
#include <zklock/error.hpp>

#include <boost/system/system_error.hpp>

namespace zklock::detail {

namespace {

template <class Recode>
boost::system::result<std::string> recoded(Recode recode) noexcept {
  try {
    return recode();
  } catch (const boost::system::system_error& error) {
    return error.code();
  } catch (...) {
    return make_error_code(Error::invalid_data);
  }
}

}  // namespace

boost::system::result<std::string> encoded(const Codec& codec, std::string_view data) noexcept {
  return recoded([&] { return codec.encode(data); });
}

boost::system::result<std::string> decoded(const Codec& codec, std::string_view data, std::size_t limit) noexcept {
  auto plain = recoded([&] { return codec.decode(data); });
  if (plain && plain->size() > limit) return make_error_code(Error::invalid_data);
  return plain;
}

}  // namespace zklock::detail
