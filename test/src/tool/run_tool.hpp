// SPDX-License-Identifier: Apache-2.0
//
// Runs the built tool, whose path is TILEFOLD_TOOL, and catches what it writes.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "scratch.hpp"

extern char** environ;

namespace tilefold::test {

using json = nlohmann::json;

struct outcome {
  int exit_code;  // or minus the signal that ended it
  std::string out;
  std::string err;
};

inline std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class tool {
 public:
  enum class gpus { hidden, visible };

  explicit tool(gpus which = gpus::hidden) {
    for (char** entry = environ; *entry != nullptr; ++entry) environment_.push_back(*entry);
    if (which == gpus::hidden) environment_.push_back("CUDA_VISIBLE_DEVICES=");
  }

  pid_t start(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words{TILEFOLD_TOOL};
    words.insert(words.end(), arguments.begin(), arguments.end());
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&files, 1, output_.path("out").c_str(), flags, 0600);
    posix_spawn_file_actions_addopen(&files, 2, output_.path("err").c_str(), flags, 0600);
    pid_t pid = 0;
    const int error = posix_spawn(&pid, TILEFOLD_TOOL, &files, nullptr, pointers(words).data(),
                                  pointers(environment_).data());
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) throw std::runtime_error("cannot start " TILEFOLD_TOOL);
    return pid;
  }

  outcome finish(pid_t pid) const {
    int status = 0;
    if (waitpid(pid, &status, 0) != pid) throw std::runtime_error("cannot wait for the tool");
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return {code, output_.contents("out"), output_.contents("err")};
  }

  outcome operator()(const std::vector<std::string>& arguments) const {
    return finish(start(arguments));
  }

 private:
  static std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> result;
    for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
    result.push_back(nullptr);
    return result;
  }

  std::vector<std::string> environment_;
  scratch output_;
};

}  // namespace tilefold::test
