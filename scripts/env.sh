# shellcheck shell=sh
# Source this (bash or sh): . scripts/env.sh
# Puts the Open MPI that scripts/bootstrap has found on PATH, and sets what runs under `mpirun --with-ft ulfm` need.
# Variables that are set already keep their values.

# 0 if $1 is the home of an Open MPI of version 5 or later.
fenix_env_is_mpi() {
  [ -x "$1/bin/mpirun" ] && "$1/bin/mpirun" --version 2>/dev/null | grep -q -E 'Open MPI\) ([5-9]|[1-9][0-9])\.'
}

# fenix_env_default NAME VALUE
fenix_env_default() {
  eval "[ -n \"\${$1+set}\" ] || export $1='$2'"
}

# Another one may have followed that of an earlier call. fenix-env takes that of its library.
[ -n "${fenix_env_prefix:-}" ] || [ "${FENIX_MPI_HOME:-}" != "${FENIX_MPI_HOME_FOUND:-}" ] || unset FENIX_MPI_HOME
if [ -n "${FENIX_MPI_HOME:-}" ] && ! fenix_env_is_mpi "$FENIX_MPI_HOME"; then
  echo "env.sh: FENIX_MPI_HOME=$FENIX_MPI_HOME is no Open MPI 5 or later; taking what scripts/bootstrap has found" >&2
  unset FENIX_MPI_HOME
fi
if [ -z "${FENIX_MPI_HOME:-}" ] && [ -r "${XDG_CACHE_HOME:-$HOME/.cache}/fenix/mpi-home" ]; then
  FENIX_MPI_HOME=$(cat "${XDG_CACHE_HOME:-$HOME/.cache}/fenix/mpi-home")
  export FENIX_MPI_HOME_FOUND="$FENIX_MPI_HOME"
fi

if [ -z "${FENIX_MPI_HOME:-}" ]; then
  echo "env.sh: no Open MPI with ULFM is known yet: run scripts/bootstrap first, or set FENIX_MPI_HOME" >&2
else
  export FENIX_MPI_HOME
  case ":$PATH:" in
    ":$FENIX_MPI_HOME/bin:"*) ;;
    *) export PATH="$FENIX_MPI_HOME/bin:$PATH" ;;
  esac
fi

# After a failure MPI_Finalize would hang now and then without this.
fenix_env_default OMPI_MCA_async_mpi_finalize 1
# With more ranks than cores on a node, Open MPI lets those that wait give up their core: here by short sleeps. Under Linux 6.18
# ranks that yield in a loop keep all others, and the kernel's own threads, from running for up to a minute: docs/known-issues.md.
# Where several jobs share the cores, OMPI_MCA_mpi_yield_when_idle=1 asks for it; where each rank has one, waits spin.
fenix_env_default OMPI_MCA_threads_pthreads_yield_strategy nanosleep
case $(mpirun --version 2>/dev/null) in
  *'Open MPI) '[6-9].*)
    # It knows the old name of this as well, and complains about it in each run.
    fenix_env_default PRTE_MCA_mapby :oversubscribe
    # Without this, mpirun ends the processes that spawned another one when that one dies.
    fenix_env_default PRTE_MCA_pmix_terminate_connected 0
    ;;
  *) fenix_env_default PRTE_MCA_rmaps_default_mapping_policy :oversubscribe ;;
esac
# Collectives that do not notice a dead rank on several nodes: han even says that all went well. And cuda, which is unsafe after a
# failure (Open MPI's issue 13915).
fenix_env_default OMPI_MCA_coll '^hcoll,portals4,cuda,han'
# With netlink, as in Debian's package, a process finds no way to one of another job on its own node: spawned ones end at once.
fenix_env_default OMPI_MCA_reachable weighted
# Its default is uninitialised memory in Open MPI 5.0.7.
fenix_env_default OMPI_MCA_coll_ftagree_agreement 1
# All peers known from the start: MPIX_Comm_shrink hangs for one first contacted after its death.
fenix_env_default OMPI_MCA_mpi_add_procs_cutoff 100000
if [ -e "${FENIX_MPI_HOME:-}/share/fenix/mends" ]; then
  # A node that falls silent is given up after FENIX_NODE_TIMEOUT seconds (30): the daemons of mpirun look at their connections.
  # Whole seconds, 5 at least: the time until the first question, and four times that between two.
  fenix_env_limit=${FENIX_NODE_TIMEOUT:-30}
  # Shells take a number that begins with 0 for an octal one.
  while [ "${fenix_env_limit#0?}" != "$fenix_env_limit" ]; do fenix_env_limit=${fenix_env_limit#0}; done
  case $fenix_env_limit in
    *[!0-9]* | ??????????*)
      echo "env.sh: FENIX_NODE_TIMEOUT=$FENIX_NODE_TIMEOUT is no number of seconds; taking 30" >&2
      fenix_env_limit=30
      ;;
  esac
  [ "$fenix_env_limit" -ge 5 ] || fenix_env_limit=5
  [ -z "${FENIX_NODE_TIMEOUT:-}" ] ||
    unset PRTE_MCA_oob_tcp_keepalive_time PRTE_MCA_oob_tcp_keepalive_intvl PRTE_MCA_oob_tcp_keepalive_probes
  fenix_env_interval=$(((fenix_env_limit + 1) / 6))
  [ "$fenix_env_interval" -ge 1 ] || fenix_env_interval=1
  fenix_env_default PRTE_MCA_oob_tcp_keepalive_time $((fenix_env_limit - 4 * fenix_env_interval))
  fenix_env_default PRTE_MCA_oob_tcp_keepalive_intvl "$fenix_env_interval"
  fenix_env_default PRTE_MCA_oob_tcp_keepalive_probes 4
  unset fenix_env_limit fenix_env_interval
  # Set by this script for another Open MPI, in the same shell.
  [ "${PRTE_MCA_state_base_error_non_zero_exit:-}" != 0 ] || unset PRTE_MCA_state_base_error_non_zero_exit
  # mpirun is connected to every other daemon: no daemon is cut off by the loss of another one.
  fenix_env_default PRTE_MCA_rml_base_radix 4096
else
  # Without this MPI_Abort ends only the rank that calls it, and the others wait for ever. The price: mpirun ends with 0
  # even if a rank returns another status after MPI_Finalize; a program reports a failure with MPI_Abort.
  fenix_env_default PRTE_MCA_state_base_error_non_zero_exit 0
fi
# Processes that Fenix spawns are a job of their own. It gets what --with-ft ulfm gives to the first one: the death of one does
# not end the others, and they are told of it.
fenix_env_default PRTE_MCA_state_base_recoverable 1
fenix_env_default PRTE_MCA_state_base_notify_errors 1
# libfabric, where the application links it, must not take over the signal handlers. (Fenix loads it, and puts them back.)
fenix_env_default IPATH_NO_BACKTRACE 1
if [ "$(id -u)" = 0 ]; then
  # mpirun refuses to run as root otherwise.
  fenix_env_default OMPI_ALLOW_RUN_AS_ROOT 1
  fenix_env_default OMPI_ALLOW_RUN_AS_ROOT_CONFIRM 1
fi

unset -f fenix_env_is_mpi fenix_env_default
