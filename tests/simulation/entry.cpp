// SPDX-License-Identifier: BSD-3-Clause
// Main function of the executable, whose data are those of a simulated process.
extern "C" int fenix_simulation_main(int argc, char** argv, char* begin, char* end);
extern "C" char __data_start;
extern "C" char _end;

int main(int argc, char** argv) { return fenix_simulation_main(argc, argv, &__data_start, &_end); }
