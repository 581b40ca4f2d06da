/* SPDX-License-Identifier: BSD-3-Clause */
/* What libfenix_mpi asks of libcuda, with memory that no process can read. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { BYTES = 4096, MEMORY_TYPE = 2, HOST_POINTER = 4, SUCCESS = 0, INVALID_VALUE = 1 };

int* fake_device_memory;
int* fake_managed_memory;

__attribute__((constructor)) static void allocate(void) {
  fake_device_memory = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  fake_managed_memory = calloc(BYTES, 1);
}

static int is_in(const void* memory, uintptr_t address) {
  return address >= (uintptr_t)memory && address < (uintptr_t)memory + BYTES;
}

int cuPointerGetAttribute(void* data, int attribute, uintptr_t address) {
  const int on_device = is_in(fake_device_memory, address);
  if (!on_device && !is_in(fake_managed_memory, address)) return INVALID_VALUE;
  if (attribute == MEMORY_TYPE) *(unsigned*)data = 2;
  if (attribute == HOST_POINTER && on_device) return INVALID_VALUE;
  if (attribute == HOST_POINTER) *(uintptr_t*)data = address;
  return SUCCESS;
}
