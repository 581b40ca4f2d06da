// SPDX-License-Identifier: BSD-3-Clause
//
// C++: the store behind memory. The contracts of <fenix/store.h> hold; all is new. For errors the functions throw
// RuntimeException; they return FENIX_SUCCESS, a warning, or in resume mode "return" FENIX_ERROR_CANCELLED, unless they say
// otherwise.
#ifndef FENIX_CXX_STORE_HPP
#define FENIX_CXX_STORE_HPP

#include "../c.h"

#include <string>
#include <vector>

namespace fenix {
namespace data {

/// Calls Fenix_Data_flush.
/// @param group_id, time_stamp as in C
/// @param name as in C, without zero bytes; empty: none
/// @return the code of the C function, if it is no error
int flush(int group_id, int time_stamp = FENIX_DATA_SNAPSHOT_LATEST, const std::string& name = {});

/// Calls Fenix_Data_iflush. data::wait and data::test take the request.
/// @param group_id, request, time_stamp as in C
/// @param name as in C, without zero bytes; empty: none
/// @return the code of the C function, if it is no error
int iflush(int group_id, Fenix_Request* request, int time_stamp = FENIX_DATA_SNAPSHOT_LATEST,
           const std::string& name = {});

/// State of a flush.
struct FlushState {
  int state = FENIX_FLUSH_NONE;  ///< FENIX_FLUSH_…
  MPI_Count bytes = 0;           ///< bytes that this node has written while the state is FENIX_FLUSH_WRITING
};

/// Calls Fenix_Data_flush_state.
/// @param group_id, time_stamp as in C
/// @return state and bytes
FlushState flush_state(int group_id, int time_stamp);

/// Calls Fenix_Data_group_set_flush.
/// @param group_id, every as in C
/// @return the code of the C function, if it is no error
int group_set_flush(int group_id, int every);

/// Calls Fenix_Data_fetch.
/// @param group_id, time_stamp as in C
/// @param name as in C, without zero bytes; empty: none
/// @return the code of the C function, if it is no error
int fetch(int group_id, const std::string& name = {}, int* time_stamp = nullptr);

/// Calls Fenix_Data_restart_done.
/// @param group_id as in C
/// @param good whether this rank can go on from the dataset
/// @return FENIX_SUCCESS if all can; FENIX_WARNING_RESUMED if the group has an older dataset now
int restart_done(int group_id, bool good = true);

/// Dataset of the store.
struct Dataset {
  std::string name;       ///< name of its folder
  std::string label;      ///< name that flush was given; or empty
  bool complete = false;  ///< whether it can be fetched
};

/// Lists the datasets of the store, as Fenix_Data_get_dataset_at_position. Local.
/// @return all datasets, newest first
std::vector<Dataset> datasets();

/// Calls Fenix_Data_dataset_delete.
/// @param name as in C
/// @return the code of the C function, if it is no error
int dataset_delete(const std::string& name);

/// Calls Fenix_Data_dataset_set_current.
/// @param name as in C; empty: the newest one again
/// @return the code of the C function, if it is no error
int dataset_set_current(const std::string& name = {});

/// Calls Fenix_Data_need_commit.
/// @param group_id as in C
/// @return true if the group should commit now
bool need_commit(int group_id);

}  // namespace data

/// Calls Fenix_Process_should_halt.
/// @return true if the job should commit and end
bool should_halt();

/// Calls Fenix_Process_halt.
/// @param reason as in C, without zero bytes; empty: none
/// @return FENIX_SUCCESS
int halt(const std::string& reason = {});

/// Number of a job on its store.
struct Run {
  int run = 0;     ///< 1 for the first job; 0: there is no store, or it could not be used
  int origin = 0;  ///< number of the job whose data this one goes on from; 0: there is none
};

/// Calls Fenix_Process_get_run.
/// @return both numbers
Run get_run();

}  // namespace fenix

#endif
