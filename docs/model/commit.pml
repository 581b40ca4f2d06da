/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The commit and the recovery of a group that keeps copies, as src/core and src/recovery have them. README.md says what is
 * in here and what is not; scripts/model runs it. A step that ends at a fault point of the library has its name.
 */

#ifndef N
#define N 2 /* ranks */
#endif
#ifndef DEPTH
#define DEPTH 0
#endif
#ifndef EPOCHS
#define EPOCHS 3 /* commits that every rank wants to make */
#endif
#ifndef DEATHS
#define DEATHS 2
#endif
#ifndef BARRIER
#define BARRIER 0 /* 1: commit_barrier */
#endif
#ifndef RING
#define RING 0 /* who holds whose copy: pairs, or a ring; three ranks are always a ring */
#endif
#ifndef MIXED
#define MIXED 0 /* 1: some stores have half of the elements, some epochs no store */
#endif
#ifndef ONE_PASS
#define ONE_PASS 0 /* 1: own and held slot are written together */
#endif
#ifndef HASHES
#define HASHES 1 /* 0: rebuilding takes whatever bytes are there */
#endif
#ifndef LATE
#define LATE 0 /* the put that was under way when its sender died or left may land later. 1: before a recovery ends; 2: at any time */
#endif

#define SLOTS (DEPTH + 2)
#define PLACES (DEPTH + 3) /* the library has depth + 8: ranks may run ahead further */
#define NONE 7
#define ALL ((1 << N) - 1)

#if RING || N == 3
#define KEEPER(r) (((r) + 1) % N)
#define KEPT(r) (((r) + N - 1) % N)
#else
#define KEEPER(r) ((r) + 1 - 2 * ((r) % 2))
#define KEPT(r) KEEPER(r)
#endif

/* What a half of a slot can have: nothing, or what was stored for an epoch after so many repairs. */
#define TAG(round, epoch) ((round) * 8 + (epoch))

/* What a rank stores before a commit. The first one is always whole. */
#define WHOLE 0
#define HALF 1
#define NOTHING 2
#if MIXED
#define KIND(r, epoch) (((r) + (epoch)) % 3)
#else
#define KIND(r, epoch) WHOLE
#endif

typedef Slot {
  unsigned a : 6; /* the two halves: a store that is cut short leaves two tags that differ */
  unsigned b : 6
}

typedef Record {
  unsigned sealed : 1;
  unsigned epoch : 3;
  unsigned generation : 3;
  unsigned oldest_kept : 3;
  unsigned slot : 2;
  unsigned a : 6; /* stands for the hash: what the halves of the slot have to be */
  unsigned b : 6
}

typedef Memory {
  Slot own[SLOTS];
  Slot held[SLOTS];
  Record log[PLACES];
  Record copies[PLACES] /* of the records of the rank whose copies this one keeps */
}

/* What is under way from a rank to its holder since it died or left. */
typedef Put {
  unsigned kind : 3;
  unsigned to : 3; /* slot or place */
  unsigned of_living : 1;
  Record content
}
#define NO_PUT 0
#define PUT_A 1
#define PUT_B 2
#define PUT_RECORD 3
#define PUT_SEAL 4

Memory at[N];
#if LATE
Put late[N];
#endif
byte board[N]; /* latest epoch that a rank has told: a reader may see any older one that is not older than what it saw */
bit whole[N];  /* has its data, and the copies that it is to keep */
bit owes[N];   /* has found that snapshots were lost, and not told the application */

/* Deaths and repairs. */
byte deaths;
bit dead[N];      /* since the latest repair */
byte dead_now;    /* how many of them */
bit in_repair[N]; /* has come to the repair, or takes the place of one that has died */
byte round;       /* repairs made */

/* An exchange among all ranks. Who comes last finds its result, which is the same for all. */
byte arrived;
byte exchanged; /* in this round */
byte newest;    /* results of the exchanges of a recovery */
byte epochs;    /* bit e: epoch e is left */
bit lost;
bit finished;

/* What the properties are about, and no rank knows. */
byte done[EPOCHS + 1]; /* by epoch: the ranks whose commit of it counts */
byte must_survive;     /* latest epoch whose commit counts on every rank */
bit tolerated = 1;     /* no rank was without data at the same time as the one that keeps its copy */
bit must_tell[N];      /* the application has not been told that snapshots were lost */

/* Scratch memory of single steps; no part of a state. */
hidden byte i, j, k, n, oldest;
hidden byte found, common, unknown, some_had_none, had;

#if N == 2
#define TOLD_BY_ALL(e) (board[0] >= (e) && board[1] >= (e))
#elif N == 3
#define TOLD_BY_ALL(e) (board[0] >= (e) && board[1] >= (e) && board[2] >= (e))
#else
#define TOLD_BY_ALL(e) (board[0] >= (e) && board[1] >= (e) && board[2] >= (e) && board[3] >= (e))
#endif

/* What scripts/model shows of a run. */
#define SAY(name) printf("step: rank %d  epoch %d  ", me, epoch); printf(name); printf("\n")

/* A step happens, or the rank dies before it, or it has heard of a death and leaves for the repair. */
#define DIES :: atomic { deaths < DEATHS -> die(); goto repair }
#define LEAVES :: atomic { dead_now > 0 -> SAY("leaves for the repair"); goto repair }
#define STEP if :: atomic {
#define END } DIES LEAVES fi

inline forget_memory() {
  for (i : 0 .. SLOTS - 1) {
    at[me].own[i].a = 0; at[me].own[i].b = 0; at[me].held[i].a = 0; at[me].held[i].b = 0
  }
  for (i : 0 .. PLACES - 1) {
    wipe(at[me].log[i]);
    wipe(at[me].copies[i])
  }
}

/*
 * Fewer states: nobody looks at records without a seal, nor at slots that no record names, and whoever was about to change
 * that has come to the repair.
 */
inline tidy(rank) {
  for (j : 0 .. PLACES - 1) {
    if :: !at[rank].log[j].sealed -> wipe(at[rank].log[j]) :: else fi;
    if :: !at[rank].copies[j].sealed -> wipe(at[rank].copies[j]) :: else fi
  }
  for (j : 0 .. SLOTS - 1) {
    found = 0; common = 0;
    for (k : 0 .. PLACES - 1) {
      found = found || (at[rank].log[k].sealed && at[rank].log[k].slot == j);
      common = common || (at[rank].copies[k].sealed && at[rank].copies[k].slot == j)
    }
    if :: !found -> at[rank].own[j].a = 0; at[rank].own[j].b = 0 :: else fi;
    if :: !common -> at[rank].held[j].a = 0; at[rank].held[j].b = 0 :: else fi
  }
}

inline die() {
  d_step {
    deaths++;
    dead_now++;
    dead[me] = 1;
    whole[me] = 0;
    owes[me] = 0;
    must_tell[me] = 0;
    forget_memory();
#if LATE
    late[me].of_living = 0;
    forget_put(KEPT(me));
#endif
    for (i : 0 .. N - 1) {
      if :: !whole[i] && !whole[KEEPER(i)] -> tolerated = 0 :: else fi
    }
    found = 0;
    for (i : 0 .. N - 1) { found = found || whole[i] }
    if
    :: !found -> /* nobody is left who has known the group: it begins anew */
      must_survive = 0;
      for (i : 1 .. EPOCHS) { done[i] = 0 }
    :: else
    fi;
    SAY("dies")
  }
}

inline wipe(record) {
  record.sealed = 0; record.epoch = 0; record.generation = 0; record.oldest_kept = 0;
  record.slot = 0; record.a = 0; record.b = 0
}

inline copy_record(to, from) {
  to.epoch = from.epoch; to.generation = from.generation; to.oldest_kept = from.oldest_kept;
  to.slot = from.slot; to.a = from.a; to.b = from.b
}

/* place of the sealed record of an epoch in a log; PLACES if there is none */
#define FIND_PLACE(log_of, an_epoch, result) \
  result = 0; \
  do \
  :: result < PLACES && !(log_of[result].sealed && log_of[result].epoch == an_epoch) -> result++ \
  :: else -> break \
  od

/* ------------------------------------------------------------------------------------------------- store and commit */

/* Group::forget_old_records: of what is on all ranks, the newest depth + 1 are needed, and all newer ones. */
inline forget_old_records() {
  d_step {
    n = 0; /* newer records that are on all ranks */
    j = EPOCHS;
    do
    :: j == 0 -> break
    :: else ->
      for (i : 0 .. PLACES - 1) {
        if
#ifdef BREAK_RECYCLE_EARLY
        :: (live >> i) & 1 && at[me].log[i].epoch == j && j <= last ->
#else
        :: (live >> i) & 1 && at[me].log[i].epoch == j && j <= seen ->
#endif
          n++;
          if :: n > DEPTH + 1 -> live = live & ~(1 << i) :: else fi
        :: else
        fi
      }
      j--
    od
  }
}

/* Sets work to the lowest slot that no live record names; NONE if there is none. */
inline free_slot() {
  d_step {
    work = 0;
    do
    :: work == SLOTS -> work = NONE; break
    :: else ->
      found = 0;
      for (i : 0 .. PLACES - 1) {
        if :: (live >> i) & 1 && at[me].log[i].slot == work -> found = 1 :: else fi
      }
      if :: found -> work++ :: else -> break fi
    od
  }
}

/* The same of places, of which one is left free for a deletion. */
inline free_place() {
  d_step {
    place = 0;
    n = 0;
    for (i : 0 .. PLACES - 1) {
      n = n + ((live >> i) & 1)
    }
    if
    :: n + 1 >= PLACES -> place = NONE
    :: else ->
      do :: (live >> place) & 1 -> place++ :: else -> break od
    fi
  }
}

/* Place of the record of the latest snapshot; PLACES if there is none. */
inline latest(result) {
  result = PLACES;
  for (i : 0 .. PLACES - 1) {
    if
    :: (live >> i) & 1 && (result == PLACES || at[me].log[i].epoch > at[me].log[result].epoch) -> result = i
    :: else
    fi
  }
}

/* Some of what peers have told has come, in whatever order: what is known never goes back. */
inline look_at_board() {
  do :: TOLD_BY_ALL(seen + 1) -> seen++ :: break od
}

inline write_record(record) {
  d_step {
    record.sealed = 0;
    record.epoch = epoch;
    record.generation = round;
    /* Group::oldest_kept_with */
    oldest = epoch;
    n = 1;
    j = epoch;
    do
    :: j == 0 || n > DEPTH -> break
    :: else ->
      j--;
      for (i : 0 .. PLACES - 1) {
        if :: (live >> i) & 1 && at[me].log[i].epoch == j && j > 0 -> oldest = j; n++ :: else fi
      }
    od;
    record.oldest_kept = oldest;
    latest(k);
    record.slot = (kind == NOTHING -> at[me].log[k].slot : work);
    record.a = (kind == NOTHING -> at[me].log[k].a : TAG(round, epoch));
    record.b = (kind == WHOLE -> TAG(round, epoch) : at[me].log[k].b)
  }
}

#define HOLDER KEEPER(me)
#define OWNER KEPT(me)
/* What is written to a dead rank's memory is gone with it. */
#define IF_HOLDER_LIVES(action) if :: !dead[HOLDER] -> action :: else fi

inline store_held_a() { IF_HOLDER_LIVES(at[HOLDER].held[work].a = at[me].own[work].a) }
inline store_held_b() { IF_HOLDER_LIVES(at[HOLDER].held[work].b = at[me].own[work].b) }
inline send_record() {
  IF_HOLDER_LIVES(at[HOLDER].copies[place].sealed = 0; copy_record(at[HOLDER].copies[place], at[me].log[place]))
}
inline send_seal() { IF_HOLDER_LIVES(at[HOLDER].copies[place].sealed = 1) }

/* A step that puts something into the holder's memory. */
#if LATE
#define PUT if :: atomic { if :: late[me].of_living -> d_step { land(me) } :: else fi;
#define END_PUT(what, where) \
  } \
  DIES \
  LEAVES \
  :: atomic { late[me].kind == NO_PUT && !dead[HOLDER] && deaths < DEATHS -> put_is_late(what, where); die(); goto repair } \
  :: atomic { late[me].kind == NO_PUT && !dead[HOLDER] && dead_now > 0 -> put_is_late(what, where); goto repair } \
  fi

inline put_is_late(what, where) {
  d_step {
    late[me].kind = what;
    late[me].to = where;
    late[me].of_living = 1;
    if
    :: what == PUT_A -> late[me].content.a = at[me].own[work].a
    :: what == PUT_B -> late[me].content.b = at[me].own[work].b
    :: what == PUT_RECORD -> copy_record(late[me].content, at[me].log[place])
    :: else
    fi;
    SAY("leaves a put under way")
  }
}

inline land(sender) {
    k = late[sender].to;
    if
    :: late[sender].kind == PUT_A -> at[KEEPER(sender)].held[k].a = late[sender].content.a
    :: late[sender].kind == PUT_B -> at[KEEPER(sender)].held[k].b = late[sender].content.b
    :: late[sender].kind == PUT_RECORD ->
      at[KEEPER(sender)].copies[k].sealed = 0;
      copy_record(at[KEEPER(sender)].copies[k], late[sender].content)
    :: late[sender].kind == PUT_SEAL -> at[KEEPER(sender)].copies[k].sealed = 1
    :: else
    fi;
    forget_put(sender)
}

inline forget_put(sender) {
  late[sender].kind = NO_PUT; late[sender].to = 0; late[sender].of_living = 0;
  wipe(late[sender].content)
}

/* What a rank has sent in its life lands in its order; what a dead one has sent, at any time. */
proctype Network(byte sender) {
end:
  do
  :: atomic { late[sender].kind != NO_PUT -> d_step { land(sender) }; printf("step: the put of rank %d lands\n", sender) }
  od
}
#else
#define PUT STEP
#define END_PUT(what, where) END
#endif

/* P1 speaks of commits that have returned. This one counts from its own seal, which is earlier. */
inline count_commit() {
  done[epoch] = done[epoch] | (1 << me);
  if :: done[epoch] == ALL -> must_survive = epoch; done[epoch] = 0 :: else fi
}

/* ---------------------------------------------------------------------------------------------------------- recovery */

/* RecordLog::clear_all_but: a seal that comes late must not find the record that it is for. */
#ifdef BREAK_KEEP_UNSEALED
#define KEEP_ONLY(log_of, kept) \
  for (i : 0 .. PLACES - 1) { \
    if :: !(((kept) >> log_of[i].epoch) & 1) -> log_of[i].sealed = 0 :: else fi \
  }
#else
#define KEEP_ONLY(log_of, kept) \
  for (i : 0 .. PLACES - 1) { \
    if :: !(log_of[i].sealed && ((kept) >> log_of[i].epoch) & 1) -> wipe(log_of[i]) :: else fi \
  }
#endif

/* These epochs, and those before the oldest of them: what is kept until all is rebuilt. */
#define OR_OLDER(these) ((these) | ((these) -> ((these) & (~(these) + 1)) - 1 : 0))

/* The log that says what rank i has committed: its own, or what its keeper has of it; unknown if both have gone. */
inline look_up(an_epoch) {
  if
  :: whole[i] -> FIND_PLACE(at[i].log, an_epoch, k)
  :: !whole[i] && whole[KEEPER(i)] -> FIND_PLACE(at[KEEPER(i)].copies, an_epoch, k)
  :: else -> k = PLACES; unknown = 1
  fi
}

inline oldest_kept_by() {
  if
  :: whole[i] -> n = at[i].log[k].oldest_kept
  :: else -> n = at[KEEPER(i)].copies[k].oldest_kept
  fi
}

/* consistent_epochs: newest is the newest epoch that every rank has, epochs those that none has ceased to keep. */
inline agree_on_snapshots() {
  unknown = 0; had = 0; some_had_none = 0;
  newest = 0; epochs = 0; oldest = 0;
  for (i : 0 .. N - 1) {
    for (j : 0 .. PLACES - 1) {
      if :: whole[i] && (at[i].log[j].sealed || at[i].copies[j].sealed) -> had = 1 :: else fi
    }
    found = 0;
    for (j : 1 .. EPOCHS) {
      look_up(j);
      if :: k < PLACES -> found = 1 :: else fi
    }
    if :: !found && (whole[i] || whole[KEEPER(i)]) -> some_had_none = 1 :: else fi
  }
  for (j : 1 .. EPOCHS) {
    common = 1;
    for (i : 0 .. N - 1) {
      look_up(j);
#ifdef BREAK_TRUST_ONE_LOG
      if :: i == 0 && k == PLACES -> common = 0 :: else fi
#else
      if :: k == PLACES -> common = 0 :: else fi
#endif
    }
    if :: common && !unknown -> newest = j; epochs = epochs | (1 << j) :: else fi
  }
  if
  :: newest > 0 ->
    for (i : 0 .. N - 1) {
      look_up(newest);
      if
      :: k < PLACES ->
        oldest_kept_by();
        if :: n > oldest -> oldest = n :: else fi
      :: else
      fi
    }
    epochs = epochs & ~((1 << oldest) - 1)
  :: else
  fi;
  lost = newest == 0 && had && (unknown || !some_had_none);
  for (i : 0 .. N - 1) {
    lost = lost || owes[i]
  }
}

/* Of the epochs that are left, those of which every rank has its own record and the copy that it keeps. */
inline intersect() {
  for (j : 1 .. EPOCHS) {
    for (i : 0 .. N - 1) {
      FIND_PLACE(at[i].log, j, k);
      FIND_PLACE(at[i].copies, j, n);
      if :: k == PLACES || n == PLACES -> epochs = epochs & ~(1 << j) :: else fi
    }
  }
  lost = lost || (newest > 0 && epochs == 0)
}

/* LATE 1: what was under way has landed. */
#if LATE == 1
#define LAND_ALL for (i : 0 .. N - 1) { land(i) }
#else
#define LAND_ALL skip
#endif

#define RIGHT(slot, record) (slot.a == record.a && slot.b == record.b)

/* P1, P2: what a restore on all ranks would give now, with the copies that the next death may leave of it. */
inline check_restore() {
  j = 0; /* what a restore takes: the newest epoch that is left */
  for (i : 1 .. EPOCHS) {
    if :: (epochs >> i) & 1 -> j = i :: else fi
  }
  assert(j >= must_survive || !tolerated); /* P1: as new as the latest commit on all ranks */
  assert(j >= must_survive || (j == 0 && lost)); /* else all has gone, and survivors are told so */
  if
  :: j > 0 ->
    FIND_PLACE(at[0].log, j, k);
    n = at[0].log[k].generation;
    for (i : 0 .. N - 1) {
      FIND_PLACE(at[i].log, j, k);
      assert(k < PLACES); /* P2: every rank has the time stamp */
      assert(at[i].log[k].generation == n); /* P2: of the same commit */
      assert(RIGHT(at[i].own[at[i].log[k].slot], at[i].log[k])); /* P2: the bytes stored under it */
      assert(RIGHT(at[KEEPER(i)].held[at[i].log[k].slot], at[i].log[k])); /* P1: and once more with the keeper */
      FIND_PLACE(at[KEEPER(i)].copies, j, k);
      assert(k < PLACES)
    }
  :: else
  fi;
  for (i : 0 .. N - 1) {
    must_tell[i] = must_tell[i] || j < must_survive
  }
  must_survive = j;
  tolerated = 1;
  for (i : 1 .. EPOCHS) {
    if :: i > j -> done[i] = 0 :: else fi
  }
}

/* The last one to come to exchange number finds its result; if a rank has died it does not come to an end. */
#define ARRIVE(result) \
  d_step { \
    arrived++; \
    if :: arrived == N && dead_now == 0 -> arrived = 0; exchanged++; result :: else fi \
  }

proctype Rank(byte me) {
  byte last;    /* epoch of the latest commit */
  byte seen;    /* epoch that all ranks are known to have committed */
  byte live;    /* places of the records that are needed: Group::records_ */
  byte work = NONE;
  byte place;
  byte kind;
  byte epoch;
  byte stale_a; /* slots whose half differs from the latest snapshot, for all that is known */
  byte stale_b;

  stale_a = (1 << SLOTS) - 1; stale_b = stale_a;

program:
  do
  :: last == EPOCHS -> break
  :: else ->
    STEP
      epoch = last + 1;
      latest(k);
      kind = (k == PLACES -> WHOLE : KIND(me, epoch));
      look_at_board();
      forget_old_records();
      if :: kind == NOTHING -> work = NONE; goto stored :: else fi;
      free_slot();
      SAY("store.begin");
      if :: work != NONE -> goto has_slot :: else fi
    END;
  no_slot: /* all ranks have to commit an earlier snapshot */
    STEP
      TOLD_BY_ALL(seen + 1);
      seen++;
      look_at_board();
      forget_old_records();
      free_slot();
      if :: work == NONE -> goto no_slot :: else fi
    END;
  has_slot:
#if ONE_PASS
    STEP
      at[me].own[work].a = TAG(round, epoch);
      stale_a = stale_a | (1 << work);
      store_held_a();
      SAY("store.half")
    END;
    if
    :: kind == WHOLE ->
      STEP
        at[me].own[work].b = TAG(round, epoch);
        stale_b = stale_b | (1 << work);
        store_held_b();
        SAY("store.done")
      END
    :: else
    fi;
#else
    STEP
      at[me].own[work].a = TAG(round, epoch);
      if :: kind == WHOLE -> at[me].own[work].b = TAG(round, epoch) :: else fi;
      SAY("store.staged")
    END;
#ifndef BREAK_PUBLISH_EARLY
    PUT store_held_a(); SAY("store.half") END_PUT(PUT_A, work);
    if
    :: kind == WHOLE -> PUT store_held_b(); SAY("store.done") END_PUT(PUT_B, work)
    :: else
    fi;
#endif
#endif
  stored:
    STEP
      look_at_board();
      forget_old_records();
      free_place();
      SAY("commit.begin");
      if :: place != NONE -> goto has_place :: else fi
    END;
  no_place:
    STEP
      TOLD_BY_ALL(seen + 1);
      seen++;
      look_at_board();
      forget_old_records();
      free_place();
      if :: place == NONE -> goto no_place :: else fi
    END;
  has_place:
    if
    :: kind == HALF -> /* the other half is that of the latest snapshot */
      STEP
        latest(k);
        if
        :: (stale_b >> work) & 1 ->
          at[me].own[work].b = at[me].own[at[me].log[k].slot].b;
          IF_HOLDER_LIVES(at[HOLDER].held[work].b = at[me].own[work].b)
        :: else
        fi;
        SAY("commit.carried")
      END
    :: else
    fi;
    STEP write_record(at[me].log[place]); SAY("commit.written") END;
    PUT send_record(); SAY("commit.sent") END_PUT(PUT_RECORD, place);
    PUT send_seal(); SAY("commit.held") END_PUT(PUT_SEAL, place);
    STEP
      at[me].log[place].sealed = 1;
#ifndef BREAK_PUBLISH_EARLY
      count_commit();
#endif
      SAY("commit.sealed")
    END;
    STEP
      live = live | (1 << place);
      last = epoch;
      board[me] = epoch;
#ifdef BREAK_PUBLISH_EARLY
      count_commit();
#endif
      if
      :: kind == WHOLE -> stale_a = (1 << SLOTS) - 1; stale_b = stale_a
      :: kind == HALF -> stale_a = (1 << SLOTS) - 1
      :: else
      fi;
      if
      :: kind != NOTHING -> stale_a = stale_a & ~(1 << work); stale_b = stale_b & ~(1 << work)
      :: else
      fi;
#ifndef BREAK_PUBLISH_EARLY
      work = NONE;
#endif
      place = 0;
      SAY("commit.published")
    END;
#ifdef BREAK_PUBLISH_EARLY
    PUT store_held_a(); SAY("store.half") END_PUT(PUT_A, work);
    STEP store_held_b(); work = NONE; SAY("store.done") END;
#endif
#if BARRIER
    STEP
      TOLD_BY_ALL(last);
      seen = last;
      SAY("commit.on_all")
    END;
#endif
  od;
  STEP ARRIVE(finished = 1) END;
  if
  :: atomic { finished -> goto over }
  :: atomic { !finished && deaths < DEATHS -> die(); goto repair }
  :: atomic { !finished && dead_now > 0 -> SAY("leaves for the repair"); goto repair }
  fi;

repair:
  /* All living ranks come, and others in the place of the dead. */
  atomic {
    last = 0; seen = 0; live = 0; work = NONE; place = 0; kind = 0; epoch = 0; stale_a = 0; stale_b = 0;
    in_repair[me] = 1;
    found = 1;
    for (i : 0 .. N - 1) { found = found && in_repair[i] }
    if
    :: found ->
      for (i : 0 .. N - 1) { in_repair[i] = 0; dead[i] = 0; board[i] = 0 }
#if !LATE
      for (i : 0 .. N - 1) { tidy(i) }
#endif
      dead_now = 0; arrived = 0; exchanged = 0; newest = 0; epochs = 0; lost = 0;
      round++;
      printf("step: all have come to repair %d\n", round)
    :: else
    fi
  }
in_repair_too:
  if
  :: atomic {
      !in_repair[me] ->
      SAY("rejoin.begin");
      /* It has not been rebuilt: Rejoin::greet drops what it has got so far. */
      d_step { if :: !whole[me] -> forget_memory(); owes[me] = 0 :: else fi };
      ARRIVE(skip)
    }
  :: atomic { in_repair[me] && whole[me] && deaths < DEATHS -> die(); goto in_repair_too }
  fi;
  STEP exchanged > 0; SAY("rejoin.greeted"); SAY("rejoin.memory"); ARRIVE(skip) END;
  STEP exchanged > 1; SAY("rejoin.exposed"); ARRIVE(agree_on_snapshots()) END;
  if
  :: whole[me] ->
    STEP
      exchanged > 2;
      owes[me] = lost;
      d_step { KEEP_ONLY(at[me].log, OR_OLDER(epochs)) };
      SAY("rejoin.half_voided")
    END;
    STEP d_step { KEEP_ONLY(at[me].copies, OR_OLDER(epochs)) }; SAY("rejoin.voided"); ARRIVE(skip) END
  :: else ->
    STEP exchanged > 2; owes[me] = lost; epoch = 1 END;
    do
    :: epoch > EPOCHS -> break
    :: epoch <= EPOCHS && !((epochs >> epoch) & 1) -> epoch++
    :: epoch <= EPOCHS && ((epochs >> epoch) & 1) ->
      STEP
        !dead[HOLDER];
        d_step {
          FIND_PLACE(at[HOLDER].copies, epoch, k);
          place = k;
          if :: k < PLACES -> work = at[HOLDER].copies[k].slot; at[me].own[work].a = at[HOLDER].held[work].a :: else fi
        }
      END;
      STEP
        !dead[HOLDER];
        d_step {
          if
          :: place < PLACES ->
            at[me].own[work].b = at[HOLDER].held[work].b;
            if
            :: !HASHES || RIGHT(at[me].own[work], at[HOLDER].copies[place]) ->
              copy_record(at[me].log[place], at[HOLDER].copies[place]);
              at[me].log[place].sealed = 1
            :: else
            fi
          :: else
          fi;
          place = 0; work = NONE;
          SAY("rejoin.half_rebuilt");
          epoch++
        }
      END
    od;
    epoch = 0;
    STEP ARRIVE(skip) END
  fi;
  /* What this rank keeps for another one is completed from that one, which has its own by now. */
  STEP exchanged > 3; epoch = 1 END;
  do
  :: epoch > EPOCHS -> break
  :: epoch <= EPOCHS && !((epochs >> epoch) & 1) -> epoch++
  :: epoch <= EPOCHS && ((epochs >> epoch) & 1) ->
    STEP
      !dead[OWNER];
      d_step {
        FIND_PLACE(at[me].copies, epoch, n);
        FIND_PLACE(at[OWNER].log, epoch, k);
        place = (n < PLACES -> PLACES : k);
        if :: place < PLACES -> work = at[OWNER].log[k].slot; at[me].held[work].a = at[OWNER].own[work].a :: else fi
      }
    END;
    STEP
      !dead[OWNER];
      d_step {
        if
        :: place < PLACES ->
          at[me].held[work].b = at[OWNER].own[work].b;
          if
          :: !HASHES || RIGHT(at[me].held[work], at[OWNER].log[place]) ->
            copy_record(at[me].copies[place], at[OWNER].log[place]);
            at[me].copies[place].sealed = 1
          :: else
          fi
        :: else
        fi;
        place = 0; work = NONE; epoch++
      }
    END
  od;
  epoch = 0;
  STEP ARRIVE(intersect()) END;
  STEP
    exchanged > 4;
    if :: !whole[me] -> whole[me] = 1; SAY("rejoin.rebuilt") :: else fi
  END;
  STEP
    d_step {
      owes[me] = lost;
      KEEP_ONLY(at[me].log, epochs);
      KEEP_ONLY(at[me].copies, epochs);
      for (i : 0 .. PLACES - 1) {
        if :: at[me].log[i].sealed -> live = live | (1 << i) :: else fi
      }
      last = newest;
      seen = newest;
      board[me] = newest;
      stale_a = (1 << SLOTS) - 1; stale_b = stale_a
    };
    SAY("rejoin.resumed");
    ARRIVE(LAND_ALL; check_restore())
  END;
  STEP
    exchanged > 5;
    assert(lost || !must_tell[me]);
    owes[me] = 0; must_tell[me] = 0;
    SAY("rejoin.end")
  END;
  goto program;
over:
  skip
}

init {
  atomic {
    for (i : 0 .. N - 1) { whole[i] = 1; run Rank(i) }
#if LATE
    for (i : 0 .. N - 1) { run Network(i) }
#endif
  }
}
