// SPDX-License-Identifier: BSD-3-Clause
// CSV has a line for each row of the table; JSON has each repetition as well.
#include <fstream>
#include <nlohmann/json.hpp>

#include "report.hpp"
#include "team.hpp"

namespace bench {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Description& description) {
  Json json = Json::object();
  for (const auto& [name, value] : description) json[name] = value;
  return json;
}

Json json_of(const Summary& summary) {
  return {{"median", summary.median}, {"min", summary.min}, {"max", summary.max}};
}

Json json_of(const Case& of) {
  return {{"policy", of.policy}, {"hashes", of.hashes}, {"depth", of.depth}, {"bytes", of.bytes}, {"mode", of.mode}};
}

Json json_of(const Result& result) {
  Json json{{"operation", result.operation}};
  json.update(json_of(result.of));
  json["iterations"] = result.iterations;
  if (result.times) {
    json["repetitions"] = result.times->slowest.size();
    json["seconds"] = json_of(summarize(result.times->slowest));
    json["seconds"]["each"] = result.times->slowest;
    json["spread_over_ranks"] = json_of(summarize(result.times->spread));
  }
  if (result.times && result.copy) {
    json["memcpy_seconds"] = json_of(summarize(result.copy->slowest));
    json["memcpy_seconds"]["each"] = result.copy->slowest;
    const Ratio of = ratio(*result.times, *result.copy);
    json["ratio"] = {{"median", of.median}, {"min", of.min}, {"max", of.max}, {"of_least", of.of_least}};
  }
  for (const auto& [name, value] : result.more) json[name] = value;
  return json;
}

void write_summary(std::ostream& out, const Summary& summary) {
  out << ',' << summary.median << ',' << summary.min << ',' << summary.max;
}

void write_line(std::ostream& out, const Result& result) {
  out << result.operation << ',' << result.of.policy << ',' << result.of.hashes << ',' << result.of.depth << ','
      << result.of.bytes << ',' << result.of.mode << ',' << result.iterations << ',';
  const Times times = result.times.value_or(Times{});
  const Times copy = result.copy.value_or(Times{});
  out << times.slowest.size();
  write_summary(out, summarize(times.slowest));
  out << ',' << summarize(times.spread).median;
  write_summary(out, summarize(copy.slowest));
  const Ratio of = times.slowest.empty() || copy.slowest.empty() ? Ratio{} : ratio(times, copy);
  out << ',' << of.median << ',' << of.min << ',' << of.max << ',' << of.of_least << ',';
  for (const auto& [name, value] : result.more)
    out << (name == result.more.front().first ? "" : ";") << name << '=' << value;
  out << '\n';
}

void close(std::ofstream& file, const std::string& path) {
  file.close();
  if (!file) fail("cannot write " + path);
}

}  // namespace

void Report::require_writable(const std::string& path) {
  std::ofstream file(path, std::ios::app);
  if (!file) fail("cannot write " + path);
}

void Report::write_csv(const std::string& path) const {
  std::ofstream file(path);
  file << "operation,policy,hashes,depth,bytes,mode,iterations,repetitions,seconds_median,seconds_min,seconds_max,"
          "spread_over_ranks,memcpy_seconds_median,memcpy_seconds_min,memcpy_seconds_max,ratio,ratio_min,ratio_max,"
          "ratio_of_least,"
          "more\n";
  for (const Result& result : results_) write_line(file, result);
  close(file, path);
}

void Report::write_json(const std::string& path) const {
  Json json{{"benchmark", "fenix_bench"},
            {"machine", json_of(machine_)},
            {"run", json_of(run_)},
            {"results", Json::array()},
            {"refused", Json::array()}};
  for (const Result& result : results_) json["results"].push_back(json_of(result));
  for (const auto& [of, why] : refused_) {
    json["refused"].push_back(json_of(of));
    json["refused"].back()["why"] = why;
  }
  std::ofstream file(path);
  file << json.dump(2) << '\n';
  close(file, path);
}

}  // namespace bench
