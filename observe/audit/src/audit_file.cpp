#include "audit_file.hpp"

#include <spdlog/details/os.h>

#include <cerrno>
#include <cstddef>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zklock::detail {

namespace {

/// The last writer may have been killed. What is no file, or cannot be read, is taken for whole.
bool ends_within_line(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size == 0) return false;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char last = '\n';
  const bool is_read = ::pread(file, &last, 1, about.st_size - 1) == 1;
  ::close(file);
  return is_read && last != '\n';
}

}  // namespace

AuditFile::AuditFile(const std::string& path) : path_{path} {
  spdlog::details::os::create_dir(spdlog::details::os::dir_name(path));
  file_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) throw spdlog::spdlog_ex{"cannot open " + path, errno};
  is_torn_ = ends_within_line(path);
}

AuditFile::~AuditFile() { ::close(file_); }

void AuditFile::sink_it_(const spdlog::details::log_msg& message) {
  spdlog::memory_buf_t text;
  if (is_torn_) text.push_back('\n');
  const std::size_t begin = text.size();
  spdlog::memory_buf_t line;
  formatter_->format(message, line);
  text.append(line.data(), line.data() + line.size());
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(file_, text.data() + done, text.size() - done);
    if (written > 0) {
      done += static_cast<std::size_t>(written);
      is_torn_ = done < text.size() && done > begin;
    } else if (written == 0 || errno != EINTR) {
      if (done + 1 == text.size()) return;  // but for the end of its line
      throw spdlog::spdlog_ex{"cannot write to " + path_, errno};
    }
  }
}

}  // namespace zklock::detail
