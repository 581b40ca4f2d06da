// SPDX-License-Identifier: BSD-3-Clause
// Attributes of communicators that another one stands for now. They belong to the name, and MPI does not see them when it duplicates
// the other one.
#pragma once

#include <mpi.h>

namespace fenix_impl {

/// Copies the attributes of one communicator to another, by the copy functions of their keys. Only keys that were created in C are
/// known. Returns the error of the first copy function that fails. Local. Like delete_attributes() it has no object with a
/// destructor while it calls functions of the program.
int copy_attributes(MPI_Comm from, MPI_Comm to);

/// Whether MPI copies attributes when it duplicates a communicator in this thread. Keys that were created in C obey.
void let_mpi_copy_attributes(bool let);

/// Deletes the attributes of a communicator, as MPI_Comm_free does. Returns the first error. Local.
int delete_attributes(MPI_Comm comm);

/// Deletes the attributes of MPI_COMM_SELF, as MPI_Finalize does before all else: those with newer keys first. Their functions may call MPI.
void delete_attributes_of_self();

}  // namespace fenix_impl
