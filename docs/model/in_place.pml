/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The commit in place, and the recovery of a group that commits so: each rank has one copy of its own data, and the application's
 * buffer is the second one while a commit is under way. README.md says what is in here and what is not; scripts/model runs it.
 */

#ifndef N
#define N 2 /* ranks of a cohort; two are buddies */
#endif
#ifndef LOSSES
#define LOSSES 1 /* ranks that the redundancy can do without; so many others keep the records of a rank */
#endif
#ifndef EPOCHS
#define EPOCHS 3 /* commits that every rank wants to make */
#endif
#ifndef DEATHS
#define DEATHS 2
#endif
/* PUSH: ranks do not meet before a commit, and each writes to its holder. With two ranks only. */

#define TAG(round, epoch) ((round) * 8 + (epoch))
#define SLOT(an_epoch) ((an_epoch) % 2)
#ifdef BREAK_ONE_SLOT
#define HELD_SLOT(an_epoch) 0
#else
#define HELD_SLOT(an_epoch) SLOT(an_epoch)
#endif
#define WRONG 63 /* bytes of which nobody knows what they are */

typedef Record {
  unsigned sealed : 1;
  unsigned epoch : 3;
  unsigned tag : 6 /* stands for the hash of the data */
}

typedef Redundancy {
  byte made_of[N] /* what it was made of, by rank */
}

typedef Records {
  Record place[2]
}

typedef Memory {
  byte buffer; /* of the application, which changes it when no commit is under way */
  byte copy_a; /* the two halves of the own copy: it is overwritten in place */
  byte copy_b;
  Redundancy held[2]; /* made of the data of all others */
  Records log[N]      /* log[me] is the own one, others are copies that this rank keeps */
}

Memory at[N];
byte board[N]; /* latest epoch that a rank has told to be sealed */
bit whole[N];  /* has its data, and what it is to keep for the others */
bit owes[N];   /* has found that snapshots were lost, and not told the application */
byte pending[N]; /* the commit that a rank may have sealed, and of which it does not know whether it is decided. 0: none */
byte knows[N]; /* latest commit that a rank knows to be decided */

/* Deaths and repairs. */
byte deaths;
bit dead[N];
byte dead_now;
bit in_repair[N];
byte round;

/* A meeting of all ranks. */
byte arrived;
bit met; /* changes when all have arrived */
byte newest;
bit unsettled; /* some rank has a pending commit */
bit unsure;    /* it does not count, but nobody who lives could know whether a dead rank has sealed it */
bit lost;
bit finished;

/* What the properties are about, and no rank knows. */
byte done[EPOCHS + 1]; /* by epoch: the ranks that have sealed it */
byte must_survive;     /* latest epoch that all have sealed */
bit tolerated = 1;
bit must_tell[N];

hidden byte h, i, j, k, n;
hidden byte found, unknown, had, some_had_none;

#define ALL ((1 << N) - 1)
#define KEEPS(q, r) ((q) != (r) && ((q) + N - (r)) % N <= LOSSES)

#define SAY(name) printf("step: rank %d  epoch %d  ", me, epoch); printf(name); printf("\n")
#define DIES :: atomic { deaths < DEATHS -> die(); goto repair }
#define LEAVES :: atomic { dead_now > 0 -> SAY("leaves for the repair"); goto repair }
#define STEP if :: atomic {
#define END } DIES LEAVES fi

/* All meet. When a rank has died, some may still see that all had come, and others leave for the repair. */
#define MEET(result) \
  STEP \
    d_step { arrived++; if :: arrived == N && dead_now == 0 -> arrived = 0; met = !met; result :: else fi } \
  END; \
  STEP met != phase; phase = met END

inline wipe(record) { record.sealed = 0; record.epoch = 0; record.tag = 0 }

inline forget_memory() {
  at[me].buffer = 0; at[me].copy_a = 0; at[me].copy_b = 0;
  for (i : 0 .. N - 1) {
    at[me].held[0].made_of[i] = 0; at[me].held[1].made_of[i] = 0;
    wipe(at[me].log[i].place[0]);
    wipe(at[me].log[i].place[1])
  }
}

inline die() {
  d_step {
    deaths++; dead_now++; dead[me] = 1; whole[me] = 0; owes[me] = 0; must_tell[me] = 0; pending[me] = 0; knows[me] = 0;
    forget_memory();
    n = 0; found = 0;
    for (i : 0 .. N - 1) { n = n + (1 - whole[i]); found = found || whole[i] }
    if :: n > LOSSES -> tolerated = 0 :: else fi;
    if
    :: !found -> must_survive = 0; for (i : 1 .. EPOCHS) { done[i] = 0 }
    :: else
    fi;
    SAY("dies")
  }
}

#define TOLD_BY_ALL_2(e) (board[0] >= (e) && board[1] >= (e))
#if N == 2
#define TOLD_BY_ALL(e) TOLD_BY_ALL_2(e)
#elif N == 3
#define TOLD_BY_ALL(e) (TOLD_BY_ALL_2(e) && board[2] >= (e))
#else
#define TOLD_BY_ALL(e) (TOLD_BY_ALL_2(e) && board[2] >= (e) && board[3] >= (e))
#endif

inline count_commit() {
  done[epoch] = done[epoch] | (1 << me);
  if :: done[epoch] == ALL -> must_survive = epoch; done[epoch] = 0 :: else fi
}

/* ---------------------------------------------------------------------------------------------------------- recovery */

#define RECORD(of, by) at[by].log[of].place[SLOT(newest)]

/* The place of rank i's sealed record of an epoch in the log of a rank that knows; unknown if none is left that does. k: has it. */
inline look_up(an_epoch) {
  k = 0; n = 0;
  for (h : 0 .. N - 1) {
    if
    :: whole[h] && (whole[i] -> h == i : KEEPS(h, i)) ->
      n = 1;
      k = k || (at[h].log[i].place[SLOT(an_epoch)].sealed && at[h].log[i].place[SLOT(an_epoch)].epoch == an_epoch)
    :: else
    fi
  }
  if :: n == 0 -> unknown = 1 :: else fi
}

/* Whether the latest pending commit is decided: if some rank knows it, or if the record of each rank is sealed somewhere among the
 * living. A commit before it is decided for sure. newest: the latest decided commit. */
inline decide() {
  newest = 0; unsettled = 0; unsure = 0; found = 1; had = 0;
  for (i : 0 .. N - 1) { if :: whole[i] && pending[i] > newest -> newest = pending[i]; unsettled = 1 :: else fi }
  for (i : 0 .. N - 1) {
    k = 0; n = whole[i];
    had = had || (whole[i] && knows[i] >= newest);
    for (h : 0 .. N - 1) {
      n = n || (whole[h] && KEEPS(h, i));
      k = k || (whole[h] && (i == h || KEEPS(h, i)) && RECORD(i, h).sealed && RECORD(i, h).epoch == newest)
    }
    if :: !k -> found = 0 :: else fi;
    if :: !n -> unsure = 1 :: else fi
  }
  if
  :: unsettled && !found && !had -> newest--
  :: else -> unsure = 0
  fi
}

inline agree_on_epoch() {
  unknown = 0; had = 0; some_had_none = 0; newest = 0;
  for (i : 0 .. N - 1) {
    found = 0;
    for (j : 1 .. EPOCHS) {
      look_up(j);
      if :: k -> found = 1; had = 1 :: else fi
    }
    if :: !found && n -> some_had_none = 1 :: else fi
  }
  for (j : 1 .. EPOCHS) {
    found = 1;
    for (i : 0 .. N - 1) {
      look_up(j);
      if :: !k -> found = 0 :: else fi
    }
    if :: found && !unknown -> newest = j :: else fi
  }
  lost = newest == 0 && had && (unknown || !some_had_none);
  for (i : 0 .. N - 1) { lost = lost || owes[i] }
}

/* Keeps records up to an epoch; or that epoch only. */
inline keep_records(only) {
  d_step {
    for (i : 0 .. N - 1) {
      for (j : 0 .. 1) {
        if
        :: !at[me].log[i].place[j].sealed || at[me].log[i].place[j].epoch > newest || (only && at[me].log[i].place[j].epoch < newest) ->
          wipe(at[me].log[i].place[j])
        :: else
        fi
      }
    }
  }
}

/* Takes the records of ranks that lack their own from others that keep them. */
inline spread_records() {
  d_step {
    for (i : 0 .. N - 1) {
      for (j : 0 .. N - 1) {
        if
        :: KEEPS(me, i) && !whole[i] && KEEPS(j, i) && whole[j] && RECORD(i, j).sealed && RECORD(i, j).epoch == newest ->
          RECORD(i, me).sealed = 1; RECORD(i, me).epoch = newest; RECORD(i, me).tag = RECORD(i, j).tag
        :: else
        fi
      }
    }
  }
}

/* All ranks have the record, and those who keep it, too. */
inline check_all_have() {
  for (i : 0 .. N - 1) {
    for (j : 0 .. N - 1) {
      if
      :: (i == j || KEEPS(j, i)) && !(RECORD(i, j).sealed && RECORD(i, j).epoch == newest) -> lost = 1
      :: else
      fi
    }
  }
  if :: lost -> newest = 0 :: else fi
}

inline check_restore() {
  k = newest;
  assert(k >= must_survive || !tolerated);
  assert(k >= must_survive || (k == 0 && lost));
  if
  :: k > 0 ->
    n = RECORD(0, 0).tag;
    for (i : 0 .. N - 1) {
      assert(RECORD(i, i).sealed && RECORD(i, i).epoch == newest && RECORD(i, i).tag == n);
      assert(at[i].copy_a == n && at[i].copy_b == n); /* P2: the data of the snapshot */
      for (j : 0 .. N - 1) {
        assert(i == j || at[j].held[HELD_SLOT(newest)].made_of[i] == n); /* P1: and the redundancy for the next death */
        assert(!KEEPS(j, i) || (RECORD(i, j).sealed && RECORD(i, j).tag == n))
      }
    }
  :: else
  fi;
  for (i : 0 .. N - 1) { must_tell[i] = must_tell[i] || k < must_survive }
  must_survive = k;
  tolerated = 1;
  for (i : 1 .. EPOCHS) { if :: i > k -> done[i] = 0 :: else fi }
}

proctype Rank(byte me) {
  byte last;    /* epoch of the own copy */
  byte epoch;   /* of the commit under way */
  byte peer;
  bit phase;
  bit right;

program:
  do
  :: last == EPOCHS -> break
  :: else ->
    epoch = last + 1;
    STEP at[me].buffer = TAG(round, epoch); SAY("computes") END;
#if !defined(BREAK_REUSE_EARLY) && !defined(PUSH)
    MEET(skip); /* all copies are at the epoch before: what was held for the one before that can be overwritten */
#endif
    peer = 0;
    do
    :: peer == N -> break
    :: peer < N && peer == me -> peer++
    :: peer < N && peer != me ->
#ifdef PUSH
      STEP
        if :: !dead[peer] -> at[peer].held[HELD_SLOT(epoch)].made_of[me] = at[me].buffer :: else fi;
        SAY("store.half");
        peer++
      END
#else
      STEP !dead[peer]; at[me].held[HELD_SLOT(epoch)].made_of[peer] = at[peer].buffer; SAY("encode.piece"); peer++ END
#endif
    od;
    peer = 0;
    STEP
      at[me].log[me].place[SLOT(epoch)].sealed = 0;
      at[me].log[me].place[SLOT(epoch)].epoch = epoch;
      at[me].log[me].place[SLOT(epoch)].tag = at[me].buffer;
      pending[me] = epoch;
      SAY("commit.written")
    END;
    do
    :: peer == N -> break
    :: peer < N && !KEEPS(peer, me) -> peer++
    :: peer < N && KEEPS(peer, me) ->
      STEP
        d_step {
          if
          :: !dead[peer] ->
            at[peer].log[me].place[SLOT(epoch)].sealed = 0;
            at[peer].log[me].place[SLOT(epoch)].epoch = epoch;
            at[peer].log[me].place[SLOT(epoch)].tag = at[me].buffer
          :: else
          fi
        };
        SAY("commit.sent")
      END;
      STEP
        if :: !dead[peer] -> at[peer].log[me].place[SLOT(epoch)].sealed = 1 :: else fi;
        peer++;
        SAY("commit.held")
      END
    od;
    peer = 0;
    STEP
      at[me].log[me].place[SLOT(epoch)].sealed = 1;
      count_commit();
      board[me] = epoch;
      SAY("commit.sealed")
    END;
#ifndef BREAK_OVERWRITE_EARLY
    STEP TOLD_BY_ALL(epoch); knows[me] = epoch; SAY("commit.decided") END;
#endif
    STEP at[me].copy_a = at[me].buffer; SAY("commit.half_copied") END;
    STEP at[me].copy_b = at[me].buffer; SAY("commit.copied") END;
#ifdef BREAK_OVERWRITE_EARLY
    STEP TOLD_BY_ALL(epoch); SAY("commit.decided") END;
#endif
    STEP last = epoch; pending[me] = 0; SAY("returns") END
  od;
  STEP d_step { arrived++; if :: arrived == N && dead_now == 0 -> arrived = 0; finished = 1 :: else fi } END;
  if
  :: atomic { finished -> goto over }
  :: atomic { !finished && deaths < DEATHS -> die(); goto repair }
  :: atomic { !finished && dead_now > 0 -> SAY("leaves for the repair"); goto repair }
  fi;

repair:
  atomic {
    last = 0; peer = 0; epoch = 0; phase = 0; right = 0;
#ifdef BREAK_RETURN_UNSETTLED
    pending[me] = 0;
#endif
    in_repair[me] = 1;
    found = 1;
    for (i : 0 .. N - 1) { found = found && in_repair[i] }
    if
    :: found ->
      for (i : 0 .. N - 1) { in_repair[i] = 0; dead[i] = 0; board[i] = 0 }
      dead_now = 0; arrived = 0; met = 0; newest = 0; lost = 0; unsettled = 0;
      round++;
      printf("step: all have come to repair %d\n", round)
    :: else
    fi
  }
in_repair_too:
  if
  :: atomic {
      !in_repair[me] ->
      SAY("settle.begin");
      d_step { if :: !whole[me] -> forget_memory(); owes[me] = 0 :: else fi };
      d_step { arrived++; if :: arrived == N && dead_now == 0 -> arrived = 0; met = !met; decide() :: else fi }
    }
  :: atomic { in_repair[me] && whole[me] && deaths < DEATHS -> die(); goto in_repair_too }
  fi;
  STEP met != phase; phase = met; SAY("settle.agreed") END;
  if
  :: unsettled ->
    /* A rank may have died when only some of its keepers had its record. All must have it before anything is overwritten. */
    if
    :: whole[me] && newest > 0 ->
      STEP
#ifndef BREAK_SPREAD_LATE
        spread_records();
#endif
        SAY("settle.spread")
      END
    :: else
    fi;
    MEET(skip);
    /* It is known for good that the commit that was cut short counts, or that it does not. The buffer is still what it was. */
    if
    :: whole[me] && pending[me] != 0 && pending[me] == newest ->
      STEP RECORD(me, me).sealed = 1; SAY("settle.sealed") END;
      STEP at[me].copy_a = at[me].buffer; SAY("settle.half_copied") END;
      STEP at[me].copy_b = at[me].buffer; SAY("settle.copied") END
    :: else
    fi;
    if
    :: whole[me] ->
      STEP
#ifndef BREAK_VOID_SILENTLY
        owes[me] = owes[me] || unsure;
#endif
        keep_records(0);
        SAY("settle.voided")
      END
    :: else
    fi
  :: else
  fi;
  /* The application gets control, and may change its buffer. */
  STEP
    if :: pending[me] != 0 && pending[me] <= newest -> knows[me] = pending[me] :: else fi;
    pending[me] = 0;
    if :: whole[me] -> at[me].buffer = WRONG :: else fi;
    SAY("gets control")
  END;
  MEET(agree_on_epoch());
  STEP owes[me] = lost; SAY("agrees on an epoch") END;
  if :: whole[me] -> STEP keep_records(0); SAY("rejoin.voided") END :: else fi;
  MEET(skip);
  if
  :: !whole[me] && newest > 0 ->
    right = 1; peer = 0; k = 0;
    do
    :: peer == N -> break
    :: peer < N && (peer == me || !whole[peer]) -> peer++
    :: peer < N && peer != me && whole[peer] ->
      STEP
        !dead[peer];
        d_step {
          for (i : 0 .. N - 1) {
            if
            :: i != peer && at[peer].held[HELD_SLOT(newest)].made_of[i] != RECORD(peer, peer).tag -> right = 0
            :: else
            fi
          }
          if
          :: N > 2 && (at[peer].copy_a != RECORD(peer, peer).tag || at[peer].copy_b != RECORD(peer, peer).tag) -> right = 0
          :: else
          fi;
          if
          :: KEEPS(peer, me) && RECORD(me, peer).sealed ->
            RECORD(me, me).sealed = 1; RECORD(me, me).epoch = newest; RECORD(me, me).tag = RECORD(me, peer).tag
          :: else
          fi;
          peer++
        }
      END
    od;
    peer = 0;
    STEP at[me].copy_a = (right -> RECORD(me, me).tag : WRONG); SAY("rejoin.half_rebuilt") END;
    STEP
      at[me].copy_b = at[me].copy_a;
      /* its hash would not be right */
      d_step { if :: !right -> wipe(RECORD(me, me)) :: else fi }
    END
  :: else
  fi;
  MEET(skip);
  /* What this rank keeps for the others is made of what they have. */
  if
  :: !whole[me] && newest > 0 ->
    do
    :: peer == N -> break
    :: peer < N && peer == me -> peer++
    :: peer < N && peer != me ->
      STEP
        !dead[peer];
        d_step {
          at[me].held[HELD_SLOT(newest)].made_of[peer] = at[peer].copy_a;
          if
          :: KEEPS(me, peer) && RECORD(peer, peer).sealed ->
            RECORD(peer, me).sealed = 1; RECORD(peer, me).epoch = newest; RECORD(peer, me).tag = RECORD(peer, peer).tag
          :: else
          fi;
          peer++
        }
      END
    od;
    peer = 0
  :: else
  fi;
  MEET(if :: newest > 0 -> check_all_have() :: else fi);
  STEP if :: !whole[me] -> whole[me] = 1; SAY("rejoin.rebuilt") :: else fi END;
  STEP
    owes[me] = lost;
    keep_records(1);
    SAY("rejoin.resumed")
  END;
  MEET(check_restore());
  STEP
    assert(lost || !must_tell[me]);
    owes[me] = 0; must_tell[me] = 0;
    last = newest; board[me] = newest; knows[me] = newest; right = 0; phase = met;
    SAY("rejoin.end")
  END;
  goto program;
over:
  skip
}

init {
  atomic {
    for (i : 0 .. N - 1) { whole[i] = 1; run Rank(i) }
  }
}
