// SPDX-License-Identifier: BSD-3-Clause
// The variables of the environment that the library reads: their forms, defaults and meanings. docs/settings.md is made of this table.
#pragma once

#include <array>
#include <string_view>

namespace fenix_impl {

enum class Form {
  whole,     ///< a whole number
  number,    ///< a number
  bytes,     ///< a whole number, alone or with a power of 1024
  duration,  ///< seconds, or a number with another unit of time
  on_off,
  choice,  ///< one of some words
  faults,  ///< of FENIX_FAULT
  text
};

/// The answer to ranks that have different values.
enum class Differing { allowed, warned_of, refused };

struct Variable {
  std::string_view name;
  Form form = Form::text;
  std::string_view words = {};       ///< those of a choice, with blanks between; for a text what it is
  std::string_view without = {};     ///< the value that counts if there is none; empty: 0, off or nothing
  std::string_view default_as = {};  ///< the default in words, where `without` does not tell it
  double least = 0;
  double most = kMost;
  Differing differing = Differing::allowed;
  std::string_view meaning = {};  ///< for a page in docs/

  static constexpr double kMost = 1e15;  // each whole number below it is a double
};

inline constexpr double kShortest = 0.001;  // of times that must not be 0
inline constexpr double kMostSeconds = 1e9;
inline constexpr double kMostWhole = 2'147'483'647;
inline constexpr double kMostCopiesHeld = 3;

inline constexpr std::array kVariables{
    Variable{.name = "FENIX_LOG",
             .form = Form::choice,
             .words = "off error warn info debug trace",
             .without = "warn",
             .meaning =
                 "Messages of the library on stderr. `warn`: protection that is less than it seems; each warning "
                 "once. `info`: the start, repairs, and groups that are formed, with policy, path and snapshots"},
    Variable{.name = "FENIX_SPARES",
             .form = Form::whole,
             .most = kMostWhole,
             .meaning = "Programs without calls of Fenix: so many last ranks wait as "
                        "[spares](message-logging.md#programs-without-calls-of-fenix). Programs for SCR: those of "
                        "[SCR_Init_comm](scr.md)"},
    Variable{.name = "FENIX_TIMEOUT",
             .form = Form::duration,
             .without = "600",
             .least = kShortest,
             .most = kMostSeconds,
             .differing = Differing::warned_of,
             .meaning = "[The time that others wait for a silent rank](operations.md#silent-ranks)"},
    Variable{.name = "FENIX_PATH",
             .form = Form::choice,
             .words = "auto map fabric window",
             .without = "auto",
             .differing = Differing::refused,
             .meaning = "[The path of data to other ranks](operations.md#the-paths-of-data)"},
    Variable{.name = "FENIX_FAILURE_DOMAIN",
             .words = "a name",
             .meaning = "[The ranks that fail at once](operations.md#nodes-and-failure-domains), in addition to nodes"},
    Variable{.name = "FENIX_WARM_REPLACEMENT",
             .form = Form::on_off,
             .without = "on",
             .meaning = "Whether a replacement on the node of the dead rank [takes over its "
                        "memory](operations.md#warm-replacement)"},
    Variable{.name = "FENIX_SIMD",
             .form = Form::choice,
             .words = "scalar neon avx2 avx512",
             .default_as = "the best that the CPU has",
             .meaning = "Vector instructions of copies, hashes and parity. One that this machine does not have gives "
                        "the default and a warning. For measurements; results are the same"},
    Variable{.name = "FENIX_REBUILD",
             .form = Form::choice,
             .words = "shared alone",
             .without = "shared",
             .meaning =
                 "The ranks that compute the data of a replacement from parity: [all ranks of its "
                 "cohort](design/redundancy.md#shared-rebuild), or the replacement itself. Only replacements look at "
                 "it. For measurements"},
    Variable{.name = "FENIX_IN_PLACE",
             .form = Form::on_off,
             .without = "off",
             .meaning = "New groups of depth 0 [commit in "
                        "place](how-to-data.md#half-the-memory-commits-in-place). For tests"},
    Variable{.name = "FENIX_CHECKPOINT_INTERVAL",
             .form = Form::duration,
             .least = kShortest,
             .most = kMostSeconds,
             .differing = Differing::refused,
             .meaning = "The time between two requests of rank 0 for [checkpoints that do not "
                        "block](message-logging.md#checkpoints-that-do-not-block)"},
    Variable{.name = "FENIX_MLOG_MEMORY",
             .form = Form::bytes,
             .default_as = "`FENIX_PERSIST_VOLUME`",
             .least = 1,
             .meaning = "[Logged messages of a rank](message-logging.md#memory), about 128 bytes more for each message "
                        "included"},
    Variable{.name = "FENIX_MLOG_COPIES",
             .form = Form::whole,
             .default_as = "0; in programs without calls of Fenix `FENIX_PERSIST_COPIES`",
             .most = kMostCopiesHeld,
             .differing = Differing::refused,
             .meaning = "Copies of logged messages on other ranks"},
    Variable{.name = "FENIX_MLOG_COMPARE",
             .form = Form::choice,
             .words = "off on strict",
             .without = "on",
             .meaning = "Messages that a replacement sends once more are [compared](message-logging.md#limits) with "
                        "those in the log. `strict`: the first one that differs ends the job"},
    Variable{
        .name = "FENIX_MLOG_SPILL",
        .words = "a folder, or off",
        .default_as = "`TMPDIR` or `/var/tmp`, if that is on a disk",
        .meaning = "Where [logged messages](message-logging.md#files) go for which there is no memory; off: nowhere"},
    Variable{.name = "FENIX_MLOG_SPILL_SIZE",
             .form = Form::bytes,
             .default_as = "a part of the room in the folder",
             .meaning = "The most that a rank writes there"},
    Variable{.name = "FENIX_UNLOGGED",
             .form = Form::choice,
             .words = "allow",
             .default_as = "refused",
             .differing = Differing::warned_of,
             .meaning = "Calls of MPI that cannot be logged are let through: their effects are lost with a rank"},
    Variable{.name = "FENIX_PERSIST_VOLUME",
             .form = Form::bytes,
             .without = "64M",
             .least = 1,
             .most = 68'719'476'736,
             .meaning = "The room for what a rank [stores on persistent "
                        "communicators](message-logging.md#persistent-communicators), and determinants"},
    Variable{.name = "FENIX_PERSIST_COPIES",
             .form = Form::whole,
             .without = "1",
             .most = kMostCopiesHeld,
             .differing = Differing::refused,
             .meaning = "Copies of that on other ranks"},
    Variable{.name = "FENIX_STORE",
             .words = "a folder",
             .differing = Differing::refused,
             .meaning = "[The store](store.md); without it nothing is flushed. Its parent must exist"},
    Variable{.name = "FENIX_FLUSH",
             .form = Form::whole,
             .without = "0",
             .most = kMostWhole,
             .differing = Differing::refused,
             .meaning = "Each so many-th commit of a group is flushed; 0: only on request"},
    Variable{.name = "FENIX_FLUSH_RATE",
             .form = Form::bytes,
             .default_as = "no limit",
             .meaning = "The most that a node writes in a second"},
    Variable{.name = "FENIX_FLUSH_TIMEOUT",
             .form = Form::duration,
             .without = "60",
             .least = kShortest,
             .most = kMostSeconds,
             .differing = Differing::warned_of,
             .meaning = "The time after which a file system that does not move counts as failed, and for which a store "
                        "or commit [waits at most](store.md#flush), in whole seconds"},
    Variable{.name = "FENIX_STORE_KEEP",
             .form = Form::whole,
             .without = "0",
             .most = kMostWhole,
             .differing = Differing::warned_of,
             .meaning =
                 "The newest complete datasets of a group that stay, with those that have a name; 0: all. Incomplete "
                 "ones that are older than the newest complete one are always removed"},
    Variable{.name = "FENIX_FETCH",
             .form = Form::on_off,
             .without = "on",
             .differing = Differing::refused,
             .meaning = "Whether groups look for datasets by themselves"},
    Variable{.name = "FENIX_KEEP",
             .form = Form::duration,
             .without = "0",
             .most = kMostSeconds,
             .differing = Differing::refused,
             .meaning = "The time for which memory is kept [when all ranks have "
                        "died](store.md#memory-that-outlives-the-job), in whole seconds"},
    Variable{.name = "FENIX_DRAIN",
             .form = Form::on_off,
             .without = "off",
             .differing = Differing::refused,
             .meaning = "This job only writes what is kept, and `Fenix_Init` does not return: see "
                        "[drain](store.md#drain)"},
    Variable{.name = "FENIX_KEEPER",
             .words = "path of a program",
             .default_as = "beside the library, or on `PATH`",
             .meaning = "`fenix-keeper`, which [writes](store.md#the-keeper)"},
    Variable{.name = "FENIX_COMMIT_EVERY",
             .form = Form::whole,
             .without = "0",
             .most = kMostWhole,
             .differing = Differing::refused,
             .meaning = "`Fenix_Data_need_commit` asks for a commit at each so many-th call; 0: no limit, as for the "
                        "next three"},
    Variable{.name = "FENIX_COMMIT_SECONDS",
             .form = Form::duration,
             .without = "0",
             .most = kMostSeconds,
             .differing = Differing::refused,
             .meaning = "The most time between two commits"},
    Variable{.name = "FENIX_COMMIT_OVERHEAD",
             .form = Form::number,
             .without = "0",
             .most = 100,
             .differing = Differing::refused,
             .meaning = "The share of the time that commits may take, in percent"},
    Variable{.name = "FENIX_COMMIT_MTBF",
             .form = Form::duration,
             .without = "0",
             .most = kMostSeconds,
             .differing = Differing::refused,
             .meaning = "The mean time between failures, of which the best interval follows"},
    Variable{.name = "FENIX_END_TIME",
             .form = Form::whole,
             .default_as = "`SLURM_JOB_END_TIME`",
             .meaning = "The end of the allocation, in seconds since 1970"},
    Variable{.name = "FENIX_HALT_SECONDS",
             .form = Form::duration,
             .without = "60",
             .most = kMostSeconds,
             .meaning = "The time before it at which `Fenix_Process_should_halt` says so"},
    Variable{.name = "FENIX_FAULT",
             .form = Form::faults,
             .meaning = "Only in builds with fault points: see [how to test under "
                        "kills](how-to-failures.md#test-your-own-program-under-kills)"},
    Variable{.name = "FENIX_FABRIC_MR_MODE",
             .words = "rules",
             .meaning = "Rules of registration to keep where the provider asks for none. For tests"},
};

}  // namespace fenix_impl
