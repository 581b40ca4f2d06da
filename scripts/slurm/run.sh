# shellcheck shell=bash
# What the job scripts of this folder have in common; they source it. Runs "$@" on all nodes of the job.
# They say in "scripts" where this folder is: Slurm runs copies of job scripts.
ranks_per_node=${RANKS_PER_NODE:-$SLURM_CPUS_ON_NODE}

# shellcheck disable=SC1091
if [[ -n ${FENIX_SOURCE:-} ]]; then . "$FENIX_SOURCE/scripts/env.sh"; else eval "$(fenix-env)"; fi
command -v fenix-run >/dev/null || PATH=$HOME/fenix/bin:$PATH # where "getting started" installs it
# These are for more ranks than cores on one node: one for Open MPI 5, one for 6.
unset PRTE_MCA_rmaps_default_mapping_policy PRTE_MCA_mapby

# mpirun starts its daemons by a srun for each node. By itself it takes one for all, which Slurm ends with the first node that
# fails.
export PRTE_MCA_plm=ssh PRTE_MCA_plm_ssh_agent="${scripts:?}/slurm/agent" PRTE_MCA_plm_ssh_no_tree_spawn=1

# How long the others wait for a rank that is silent.
export FENIX_TIMEOUT=${FENIX_TIMEOUT:-120}

# Daemons stay in their steps: Slurm counts one that has left as ended.
launch=(--leave-session-attached --map-by "ppr:$ranks_per_node:node"
        -n $((SLURM_JOB_NUM_NODES * ranks_per_node)) -x FI_PROVIDER)
mpirun --with-ft ulfm "${launch[@]}" -x FENIX_TIMEOUT fenix-info
# With a store, the program is started again if the job dies.
if [[ -n ${FENIX_STORE:-} ]]; then
  fenix-run -- "${launch[@]}" "$@"
else
  mpirun --with-ft ulfm "${launch[@]}" -x FENIX_TIMEOUT "$@"
fi
