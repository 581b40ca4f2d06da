// SPDX-License-Identifier: BSD-3-Clause
// How fast copies, hashes and parity are, each beside memcpy of the same bytes, and parity beside ISA-L.
//
// Every round measures the kernel, then the function that it is compared with, so that other work of the machine disturbs
// both. A ratio is that of the medians of all rounds. Counters:
//   bytes_per_second  bytes of the sources in a second
//   to_memcpy         time / time of memcpy of all sources: less is better, as for all that follow
//   to_xxhash         … of XXH3 as the distribution has compiled it
//   to_isal           … of ISA-L: xor_gen; ec_encode_data with all outputs in one call
//   to_isal_single    … of ec_encode_data with one output in each call, as Combination uses it
//   streaming         1: with streaming stores, since worth_streaming says so of the sources
//
// FENIX_BENCH_STORES=cached|streaming: those, whatever the size. FENIX_SIMD: other kernels. --benchmark_… as usual.
#include <benchmark/benchmark.h>
#include <isa-l/erasure_code.h>
#include <isa-l/raid.h>
#include <sys/mman.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "base/simd/copy.hpp"
#include "base/simd/hash.hpp"
#include "base/simd/simd.hpp"
#include "parity/code.hpp"
#include "parity/xor.hpp"

namespace {

using namespace fenix_impl;

constexpr std::size_t kLargest = std::size_t{64} << 20;
// At most 16 sources and one target, or 8 data and 4 parity positions and as many results.
constexpr std::size_t kBuffers = 17;
// As the library calls copy_and_hash, and parity.
constexpr std::size_t kHashBlock = std::size_t{128} << 10;
constexpr std::size_t kParityPiece = std::size_t{32} << 10;

/// Returns a buffer of a size. Buffers follow each other page after page, near each other as they are in a program.
std::span<std::byte> buffer(std::size_t number, std::size_t size) {
  static std::byte* const memory = [] {
    void* mapped = mmap(nullptr, kBuffers * kLargest, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
      std::perror("kernels: no memory");
      std::exit(1);
    }
    std::uint64_t random = 1;
    auto* words = static_cast<std::uint64_t*>(mapped);
    for (std::size_t i = 0; i < kBuffers * kLargest / sizeof(random); ++i) {
      words[i] = random = random * 6364136223846793005U + 1442695040888963407U;
    }
    return static_cast<std::byte*>(mapped);
  }();
  constexpr std::size_t kPage = 4096;
  const std::size_t stride = (size + kPage - 1) / kPage * kPage;
  return {memory + number * stride, size};
}

std::vector<const std::byte*> sources(std::size_t count, std::size_t size) {
  std::vector<const std::byte*> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(buffer(i, size).data());
  return result;
}

Stores stores_for(std::size_t size) {
  static const char* const forced = std::getenv("FENIX_BENCH_STORES");
  if (forced != nullptr) return forced == std::string_view("streaming") ? Stores::streaming : Stores::cached;
  return worth_streaming(size) ? Stores::streaming : Stores::cached;
}

using Work = std::function<void()>;

double seconds_of(const Work& work, std::size_t times) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < times; ++i) {
    work();
    benchmark::ClobberMemory();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / static_cast<double>(times);
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

struct Rival {
  const char* counter;
  Work work;
};

void compare(benchmark::State& state, std::size_t source_bytes, const Work& work, const std::vector<Rival>& rivals) {
  // Small ones often enough for the clock.
  const std::size_t times = std::max<std::size_t>(1, (std::size_t{2} << 20) / source_bytes);
  std::vector<double> own;
  std::vector<std::vector<double>> theirs(rivals.size());
  work();
  for (const Rival& rival : rivals) rival.work();
  for (auto _ : state) {
    own.push_back(seconds_of(work, times));
    state.SetIterationTime(own.back());
    for (std::size_t i = 0; i < rivals.size(); ++i) theirs[i].push_back(seconds_of(rivals[i].work, times));
  }
  state.counters["bytes_per_second"] = static_cast<double>(source_bytes) / median(own);
  state.counters["streaming"] = stores_for(source_bytes) == Stores::streaming ? 1 : 0;
  for (std::size_t i = 0; i < rivals.size(); ++i) state.counters[rivals[i].counter] = median(own) / median(theirs[i]);
}

Rival memcpy_of(std::size_t count, std::size_t size) {
  return {"to_memcpy", [=] {
            for (std::size_t i = 0; i < count; ++i) {
              std::memcpy(buffer(count, size).data(), buffer(i, size).data(), size);
            }
          }};
}

// ------------------------------------------------------------------------------------------------------ copies, hashes

void copy_once(benchmark::State& state, std::size_t size) {
  compare(state, size, [=] { copy_bytes(buffer(1, size), buffer(0, size), stores_for(size)); }, {memcpy_of(1, size)});
}

void copy_to_two(benchmark::State& state, std::size_t size) {
  compare(state, size, [=] { copy_twice(buffer(1, size), buffer(2, size), buffer(0, size), stores_for(size)); },
          {memcpy_of(1, size)});
}

void copy_hash(benchmark::State& state, std::size_t size, bool twice) {
  const auto work = [=] {
    for (std::size_t at = 0; at < size; at += kHashBlock) {
      const std::size_t bytes = std::min(kHashBlock, size - at);
      const auto also_to = twice ? buffer(2, size).subspan(at, bytes) : std::span<std::byte>();
      benchmark::DoNotOptimize(copy_and_hash(buffer(1, size).subspan(at, bytes), also_to,
                                             buffer(0, size).subspan(at, bytes), stores_for(size)));
    }
  };
  compare(state, size, work, {memcpy_of(1, size)});
}

void hash_alone(benchmark::State& state, std::size_t size) {
  compare(state, size, [=] { benchmark::DoNotOptimize(hash_bytes(buffer(0, size))); },
          {memcpy_of(1, size),
           {"to_xxhash", [=] { benchmark::DoNotOptimize(XXH3_64bits(buffer(0, size).data(), size)); }}});
}

// -------------------------------------------------------------------------------------------------------------- parity

void xor_of(benchmark::State& state, std::size_t size, std::size_t count) {
  const auto from = sources(count, size);
  std::vector<void*> of_isal;
  for (std::size_t i = 0; i <= count; ++i) of_isal.push_back(buffer(i, size).data());
  compare(state, count * size, [=] { xor_bytes(buffer(count, size), from, stores_for(count * size)); },
          {memcpy_of(count, size), {"to_isal", [=]() mutable {
                                      xor_gen(static_cast<int>(count) + 1, static_cast<int>(size), of_isal.data());
                                    }}});
}

// Combinations of the same sources, each to its own target; those of ISA-L go to the same ones.
void combine(benchmark::State& state, std::size_t size, std::vector<Combination> combinations) {
  const std::size_t count = combinations.front().coefficients().size();
  const std::size_t outputs = combinations.size();
  const auto from = sources(count, size);
  std::vector<unsigned char> coefficients;
  for (const Combination& each : combinations) {
    coefficients.insert(coefficients.end(), each.coefficients().begin(), each.coefficients().end());
  }
  constexpr std::size_t kTable = 32;
  std::vector<unsigned char> tables(kTable * count * outputs);
  ec_init_tables(static_cast<int>(count), static_cast<int>(outputs), coefficients.data(), tables.data());
  const auto in_pieces = [=](const std::function<void(std::size_t, std::size_t)>& piece) {
    for (std::size_t at = 0; at < size; at += kParityPiece) piece(at, std::min(kParityPiece, size - at));
  };
  std::vector<const std::byte*> moved(count);
  std::vector<unsigned char*> inputs(count);
  std::vector<unsigned char*> results(outputs);
  const auto work = [&] {
    in_pieces([&](std::size_t at, std::size_t bytes) {
      for (std::size_t i = 0; i < count; ++i) moved[i] = from[i] + at;
      for (std::size_t i = 0; i < outputs; ++i) {
        combinations[i].apply(buffer(count + i, size).subspan(at, bytes), moved, stores_for(count * size));
      }
    });
  };
  const auto isal = [&](std::size_t at_once) {
    return [&, at_once] {
      in_pieces([&](std::size_t at, std::size_t bytes) {
        for (std::size_t i = 0; i < count; ++i) {
          inputs[i] = reinterpret_cast<unsigned char*>(buffer(i, size).data() + at);
        }
        for (std::size_t i = 0; i < outputs; ++i) {
          results[i] = reinterpret_cast<unsigned char*>(buffer(count + i, size).data() + at);
        }
        for (std::size_t i = 0; i < outputs; i += at_once) {
          ec_encode_data(static_cast<int>(bytes), static_cast<int>(count), static_cast<int>(at_once),
                         tables.data() + i * count * kTable, inputs.data(), results.data() + i);
        }
      });
    };
  };
  compare(state, count * size, work, {memcpy_of(count, size), {"to_isal", isal(outputs)}, {"to_isal_single", isal(1)}});
}

void encode(benchmark::State& state, std::size_t size, int data, int parity) {
  const Code code(data, parity);
  std::vector<int> all(static_cast<std::size_t>(data));
  std::iota(all.begin(), all.end(), 0);
  std::vector<Combination> combinations;
  for (int i = 0; i < parity; ++i) combinations.push_back(code.combination(data + i, all));
  combine(state, size, std::move(combinations));
}

// As many data positions as can be are lost.
void decode(benchmark::State& state, std::size_t size, int data, int parity) {
  const Code code(data, parity);
  const int lost = std::min(data, parity);
  std::vector<int> left(static_cast<std::size_t>(data));
  std::iota(left.begin(), left.end(), lost);
  std::vector<Combination> combinations;
  for (int i = 0; i < lost; ++i) combinations.push_back(code.combination(i, left));
  combine(state, size, std::move(combinations));
}

// ---------------------------------------------------------------------------------------------------------------- main

template <class Function>
void add(const std::string& name, Function function) {
  for (const std::size_t kibibytes : {1, 8, 64, 512, 4096, 16384, 32768, 65536}) {
    const std::size_t size = kibibytes << 10;
    benchmark::RegisterBenchmark((name + "/KiB:" + std::to_string(kibibytes)).c_str(),
                                 [=](benchmark::State& state) { function(state, size); })
        ->UseManualTime()
        ->Iterations(kibibytes > 4096 ? 5 : 25)
        ->Unit(benchmark::kMicrosecond);
  }
}

void add_all() {
  add("copy/targets:1", copy_once);
  add("copy/targets:2", copy_to_two);
  add("copy_and_hash/targets:1", [](auto& state, std::size_t size) { copy_hash(state, size, false); });
  add("copy_and_hash/targets:2", [](auto& state, std::size_t size) { copy_hash(state, size, true); });
  add("hash", hash_alone);
  for (const std::size_t count : {2, 3, 4, 8, 16}) {
    add("xor/sources:" + std::to_string(count), [=](auto& state, std::size_t size) { xor_of(state, size, count); });
  }
  for (const int data : {2, 4, 6, 8}) {
    for (int parity = 1; parity <= 4; ++parity) {
      const auto code = "/data:" + std::to_string(data) + "/parity:" + std::to_string(parity);
      add("encode" + code, [=](auto& state, std::size_t size) { encode(state, size, data, parity); });
      if (parity <= data) {
        add("decode" + code, [=](auto& state, std::size_t size) { decode(state, size, data, parity); });
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::AddCustomContext("simd", name_of(simd()));
  add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
