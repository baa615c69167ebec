#pragma once

// CLI11 is all headers, and what each unit compiled of it again was a fifth of the program's code.
// So one unit compiles what can be shared, and no other looks into CLI11 for what it could inline.

#pragma clang attribute push(__attribute__((noinline)), apply_to = function)
#include <CLI/CLI.hpp>
#pragma clang attribute pop

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// The options' types. Others work, too, and are compiled where they are used.
#define REPRISE_OPTION_TYPES(KEYWORD)                                                            \
  KEYWORD template Option* App::add_flag(std::string, bool&, std::string);                       \
  KEYWORD template Option* App::add_flag(std::string, const std::string&);                       \
  KEYWORD template Option* App::add_option(std::string, double&, std::string);                   \
  KEYWORD template Option* App::add_option(std::string, std::uint16_t&, std::string);            \
  KEYWORD template Option* App::add_option(std::string, std::uint32_t&, std::string);            \
  KEYWORD template Option* App::add_option(std::string, std::uint64_t&, std::string);            \
  KEYWORD template Option* App::add_option(std::string, std::string&, std::string);              \
  KEYWORD template Option* App::add_option(std::string, std::filesystem::path&, std::string);    \
  KEYWORD template Option* App::add_option(std::string, std::optional<double>&, std::string);    \
  KEYWORD template Option* App::add_option(std::string, std::optional<std::uint64_t>&,           \
                                           std::string);                                         \
  KEYWORD template Option* App::add_option(std::string, std::vector<std::string>&, std::string); \
  KEYWORD template Option* App::add_option(std::string, std::vector<std::filesystem::path>&,     \
                                           std::string);                                         \
  KEYWORD template Option* App::add_option_function(                                             \
      std::string, const std::function<void(const std::string&)>&, std::string);                 \
  KEYWORD template Option* App::add_option_function(                                             \
      std::string, const std::function<void(const std::vector<std::string>&)>&, std::string);    \
  KEYWORD template Range::Range(double, double, const std::string&);                             \
  KEYWORD template Range::Range(std::uint32_t, std::uint32_t, const std::string&);               \
  KEYWORD template Range::Range(std::uint64_t, std::uint64_t, const std::string&);               \
  KEYWORD template IsMember::IsMember(std::vector<const char*>, std::nullptr_t);                 \
  KEYWORD template class TypeValidator<double>;

namespace CLI {
REPRISE_OPTION_TYPES(extern)
}  // namespace CLI

namespace reprise {

/// CLI::App's constructor. This and the next three bring half of CLI11 to the unit that calls them.
std::unique_ptr<CLI::App> make_command_line(const std::string& description,
                                            const std::string& name);

/// CLI::App::parse of words in the order in which they are typed. Throws CLI::ParseError.
void parse_words(CLI::App& app, std::vector<std::string> words);

/// CLI::App::add_option_group.
CLI::Option_group* add_group(CLI::App& command, const std::string& name);

/// CLI::App::add_subcommand.
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description);

/// CLI::Range of numbers with a fraction, but NaN is in none: it lets that pass.
CLI::Validator numbers_between(double least, double most);

/// Decimal whole numbers that 64 bits hold, without a sign: CLI::PositiveNumber takes fractions,
/// and a negative number becomes a large one.
CLI::Validator whole_numbers_from(std::uint64_t least);

/// Of --seed: from 0 to 2^53, which every reader of JSON holds exactly.
CLI::Validator seeds();

}  // namespace reprise
