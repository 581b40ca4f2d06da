// SPDX-License-Identifier: BSD-3-Clause
//
// C++: exceptions.
#ifndef FENIX_CXX_EXCEPTION_HPP
#define FENIX_CXX_EXCEPTION_HPP

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>

#include "../codes.h"

namespace fenix {

/// Place in a source file: std::source_location for C++17.
class SourceLocation {
 public:
  /// Gets the place of the caller.
  /// @param file, line, function the compiler fills them in
  /// @return the place
  static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                          std::uint_least32_t line = __builtin_LINE(),
                                          const char* function = __builtin_FUNCTION()) noexcept {
    return SourceLocation(file, line, function);
  }
  /// Makes a place without a name.
  constexpr SourceLocation() noexcept = default;
  /// Makes a place.
  /// @param file, function texts that live until the program ends
  /// @param line number of the line
  constexpr SourceLocation(const char* file, std::uint_least32_t line, const char* function) noexcept
      : file_(file), function_(function), line_(line) {}

  /// Gets the name of the file.
  /// @return a text
  [[nodiscard]] constexpr const char* file_name() const noexcept { return file_; }
  /// Gets the name of the function.
  /// @return a text
  [[nodiscard]] constexpr const char* function_name() const noexcept { return function_; }
  /// Gets the number of the line.
  /// @return 0 if it is not known
  [[nodiscard]] constexpr std::uint_least32_t line() const noexcept { return line_; }

 private:
  const char* file_ = "";
  const char* function_ = "";
  std::uint_least32_t line_ = 0;
};

/// Exception in resume mode "throw". The MPI or Fenix call that met a failure throws it, after the repair.
struct CommException : std::exception {
  MPI_Comm repaired_comm;  ///< the repaired resilient communicator
  const int fenix_err;     ///< the error of Fenix_Init, as it is after the repair: FENIX_SUCCESS if all ranks are there
  const int mpi_err;       ///< the MPI error code that led to the repair

  /// Makes the exception; called by the library.
  /// @param comm the repaired resilient communicator
  /// @param fenix_error the error of Fenix_Init
  /// @param mpi_error the MPI error code
  CommException(MPI_Comm comm, int fenix_error, int mpi_error = MPI_ERR_UNKNOWN)
      : repaired_comm(comm), fenix_err(fenix_error), mpi_err(mpi_error) {}
  /// Describes the exception.
  /// @return a constant text
  [[nodiscard]] const char* what() const noexcept override {
    return "fenix: the communicator was repaired after a failure";
  }
};

/// Exception for an error of Fenix_Return_codes. what() is the text of Fenix_Error_message, with the place at which the
/// library found the error. Functions of namespace fenix throw it.
struct RuntimeException : std::runtime_error {
  using Location = SourceLocation;  ///< type of location

  const int error;                 ///< a FENIX_ERROR_…, which is negative
  const std::string error_string;  ///< text of Fenix_Error_message
  const Location location;         ///< place at which the error was found

  /// Makes the exception.
  /// @param code a FENIX_ERROR_…
  /// @param text text for error_string
  /// @param place place at which the error was found
  RuntimeException(int code, const std::string& text, Location place = Location::current())
      : std::runtime_error(std::string(place.file_name()) + ":" + std::to_string(place.line()) + " " +
                           place.function_name() + ": " + text),
        error(code),
        error_string(text),
        location(place) {}
  /// Makes the exception for FENIX_ERROR_NOCATEGORY.
  /// @param text text for error_string
  /// @param place place at which the error was found
  explicit RuntimeException(const std::string& text, Location place = Location::current())
      : RuntimeException(FENIX_ERROR_NOCATEGORY, text, place) {}

  /// Compares the code.
  /// @param exception, code an exception and a code of Fenix_Return_codes
  /// @return whether the error of the exception is that code
  friend bool operator==(const RuntimeException& exception, int code) noexcept { return exception.error == code; }
  /// Compares the code.
  /// @param exception, code an exception and a code of Fenix_Return_codes
  /// @return whether the error of the exception is another code
  friend bool operator!=(const RuntimeException& exception, int code) noexcept { return exception.error != code; }
};

}  // namespace fenix

#endif
