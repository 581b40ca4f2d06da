// SPDX-License-Identifier: BSD-3-Clause
// Parameters of SCR: from the environment, the user's file, SCR_Config, and the file of the system. The first place that has one counts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace scr_impl {

class Parameters {
 public:
  using Values = std::map<std::string, std::string>;

  /// system_file: the one that the library was built for, unless a test has its own.
  explicit Parameters(std::string system_file = SCR_SYSTEM_FILE) : system_file_(std::move(system_file)) {}

  /// Gets a value. "CKPT=0 TYPE" is the name of one item of several.
  [[nodiscard]] std::optional<std::string> get(const std::string& name) const;
  [[nodiscard]] std::string get(const std::string& name, const std::string& otherwise) const;
  [[nodiscard]] std::vector<std::string> names() const;

  /// Takes a line of SCR_Config that sets: "KEY=VALUE", "KEY=" or "CKPT=0 KEY=VALUE …".
  void set(const struct ConfigLine& line);
  /// Text of all that was set. Ranks compare it.
  [[nodiscard]] std::string set_by_program() const { return text_of(by_program_); }

  /// Reads all places, and returns what counts. complaints: texts about files and lines that cannot be read.
  [[nodiscard]] std::string read_all(std::vector<std::string>& complaints) const;
  /// Takes what another rank has read. From then on nothing else counts.
  void use(const std::string& text);

 private:
  [[nodiscard]] Values merged(std::vector<std::string>& complaints) const;
  [[nodiscard]] static std::string text_of(const Values& values);

  std::string system_file_;
  Values by_program_;
  std::optional<Values> settled_;
};

}  // namespace scr_impl
