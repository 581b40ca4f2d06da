# shellcheck shell=bash
# What the job scripts of this folder have in common; they source it. Runs "$@" on all nodes of the job.
# The path comes from FENIX_SOURCE: Slurm runs copies of job scripts.
ranks_per_node=${RANKS_PER_NODE:-$SLURM_CPUS_ON_NODE}

# shellcheck disable=SC1091
. "$FENIX_SOURCE/scripts/env.sh"
# These are for more ranks than cores on one node: one for Open MPI 5, one for 6.
unset PRTE_MCA_rmaps_default_mapping_policy PRTE_MCA_mapby

# For the srun by which mpirun starts its daemons: else Slurm ends them all with the first node that fails.
export SLURM_NO_KILL=set

# How long the others wait for a rank that is silent.
export FENIX_TIMEOUT=${FENIX_TIMEOUT:-120}

launch=(mpirun --with-ft ulfm --map-by "ppr:$ranks_per_node:node" -n $((SLURM_JOB_NUM_NODES * ranks_per_node)) -x FI_PROVIDER
        -x FENIX_TIMEOUT)
"${launch[@]}" fenix-info
"${launch[@]}" "$@"
