/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The coordinated checkpoint that does not block: each rank takes its checkpoint at a call of its own choice, and logs until all late
 * messages have come. Counts take the place of words on messages. README.md says what is in here and what is not, and
 * scripts/model runs it.
 */

#ifndef N
#define N 3 /* ranks */
#endif
#ifndef LINES
#define LINES 1 /* checkpoints that are asked for, one after the other; as many failures */
#endif
#ifndef PROGRAM
#define PROGRAM chain
#endif
#ifndef E
#define E 10 /* events of a program, at most */
#endif
/* SYNC: after a restart, a rank leaves a collective only when all have come to it, whatever its kind. */

/* Communicators: 0 has all ranks, 1 all but one. */
#ifndef OUTSIDE
#define OUTSIDE (N - 1)
#endif
#define ALL ((1 << N) - 1)
#define MEMBER(c, r) ((c) == 0 || (r) != OUTSIDE)
#define MEMBERS(c) ((c) == 0 -> ALL : ALL - (1 << OUTSIDE))
#define COLLECTIVES 3 /* in a program, at most */
#define LOGGED 2      /* messages of a signature in a window, at most */

/* A signature: who sends to whom with which tag. MPI keeps the order of messages on it. */
#define SIGNATURES (N * (N - 1) * 2)
#define SIGNATURE(source, target, label) (((source) * (N - 1) + ((target) + N - (source)) % N - 1) * 2 + (label))

/* The kinds of events. A program is one sequence, of which each rank executes the events that concern it. */
#define SEND 1
#define RECV 2
#define PICK 3 /* a decision outside the library of which it knows: the result of a test, a probe */
#define BCAST 4
#define REDUCE 5
#define ALLREDUCE 6
#define BARRIER 7

#define ANY 3       /* a source: the choice is a decision */
#define OTHER 4     /* the source that the latest decision of the rank has not taken */
#define ANY_TAG 2   /* received: the choice is a decision. Sent: the tag is the latest decision of the sender */
#define OTHER_TAG 3 /* the tag that it is not */

typedef Event {
  unsigned kind : 3;
  unsigned who : 3; /* the source of a message, the root of a collective */
  unsigned to : 2;
  unsigned tag : 2;
  unsigned digit : 3; /* of a decision: its place in a digest */
  unsigned comm : 1;  /* of a collective: its communicator */
  unsigned number : 2;  /* its number there */
  unsigned nth : 2    /* its number in the program */
}

Event ev[E + 1]; /* the last one is none */
byte length;
byte digits;
byte collectives[2];
byte event_of[COLLECTIVES + 1];

#define COLLECTIVE(x) (ev[x].kind >= BCAST)
#define ACTOR(x) (ev[x].kind == RECV -> ev[x].to : ev[x].who)
#define CONCERNS(x, r) (ev[x].kind > 0 && (COLLECTIVE(x) -> MEMBER(ev[x].comm, r) : ACTOR(x) == (r)))
#define DECIDES(x) (ev[x].kind == PICK || (ev[x].kind == RECV && (ev[x].who == ANY || ev[x].tag == ANY_TAG)))
#define SOURCE(x, bit) (ev[x].who < ANY -> ev[x].who : (ev[x].who == ANY -> (ev[x].to + 1 + (bit)) % N : (ev[x].to + 2 - (bit)) % N))
#define LABEL(x, bit) (ev[x].tag < ANY_TAG -> ev[x].tag : (ev[x].tag == ANY_TAG -> (bit) : 1 - (bit)))
#define ON(x, bit) SIGNATURE(SOURCE(x, bit), ev[x].to, LABEL(x, bit)) /* where bit is the latest decision of the rank */

/* The flow of data in a collective: who gives, and who gets. */
#define GIVES(x, r) (ev[x].kind == BCAST -> (r) == ev[x].who : (ev[x].kind == REDUCE -> (r) != ev[x].who : 1))
#define GETS(x, r) (ev[x].kind == BCAST -> (r) != ev[x].who : (ev[x].kind == REDUCE -> (r) == ev[x].who : 1))
#define GIVERS(x) (ev[x].kind == BCAST -> 1 << ev[x].who : (ev[x].kind == REDUCE -> MEMBERS(ev[x].comm) - (1 << ev[x].who) : MEMBERS(ev[x].comm)))
#define ENTERS(x) (ev[x].kind >= ALLREDUCE || SYNCHRONISES) /* in two steps: comes, and leaves when all have come */
#ifdef SYNC
#define SYNCHRONISES (from > 0)
#else
#define SYNCHRONISES 0
#endif

/* Payloads are digests of the decisions in the causal past: two bits for each, one for either outcome. Both: histories are mixed. */
#define DIGIT(x, bit) ((1 << (bit)) << (2 * ev[x].digit))
#define ONE_HISTORY(digest) (((digest) & ((digest) >> 1) & 85) == 0)

/* What ranks have stored for a line, which is a checkpoint of all. */
typedef Saved {
  unsigned pos : 4;
  unsigned last : 1;
  unsigned stop : 4;        /* where it has stopped logging */
  unsigned inside : 1;      /* and whether it was in that collective */
  unsigned has : 3;         /* the collectives whose result is in the log */
  byte know;
  byte calls[2]; /* C, by communicator */
  byte result[COLLECTIVES]
}

typedef Counts {
  unsigned sends : 2;    /* S, of the checkpoint of the sender */
  unsigned receipts : 2; /* R, of that of the receiver */
  unsigned lates : 2;    /* entries in the log of the receiver */
  unsigned earlies : 2;
  byte late[LOGGED];
  byte early[LOGGED] /* what the receiver had before the line. No rank knows it */
}

typedef Line {
  Saved rank[N];
  Counts on[SIGNATURES];
  byte decided[E] /* the log of decisions, by event: 0 none, else the outcome + 1 */
}

/* A rank as it runs. */
typedef Rank_state {
  unsigned pos : 4;
  unsigned last : 1; /* the latest decision */
  unsigned inside : 1; /* a collective */
  unsigned lines : 2;  /* checkpoints taken */
  unsigned logging : 1;
  unsigned learned : 1; /* S of the senders, and max C */
  unsigned sealed : 2;  /* lines whose log is stored */
  unsigned join : 2;    /* a barrier before the line that it joins again */
  unsigned can : 2;     /* execute its next event; 2: with a choice that depends on what has come */
  unsigned replaying : 1;
  byte know;
  byte calls[2]
}

typedef Call {
  unsigned came : 3;
  unsigned known : 1;
  byte given;
  byte lines; /* two bits for each rank: the lines that it had passed when it came. No rank knows it */
  byte result /* that the first rank had. No rank knows it */
}

Line line[LINES];
Rank_state at[N];
byte sent[SIGNATURES];
byte got[SIGNATURES];
chan net[SIGNATURES] = [LOGGED] of { byte, byte }; /* a digest; how many lines its sender had passed, which no rank knows */
Call call[COLLECTIVES + 1];
byte forced[E + 1]; /* decisions that have to be as before */

byte from;     /* the line of the latest restart */
byte complete; /* the newest line that all have sealed */
bit ready;     /* all are, for the line under way: ranks may hear that they can stop at any time from now on */
bit asking = 1;
byte failures;
bit over;

hidden byte i, j, e, f, g, h, k, m, n, p, q, s, v, bit_of, found, had;
hidden byte cut[N];
hidden byte seen[SIGNATURES];

/* A statement about the protocol. NO_CLAIMS: only what an application can see is wrong. */
#ifdef NO_CLAIMS
#define CLAIM(what) skip
#else
#define CLAIM(what) assert(what)
#endif
#define AT(a_line) line[(a_line) - 1]
/* Names steps as the fault points of the library will be named. */
#define TELL(name) printf("step: rank %d  epoch %d  ", me, at[me].lines); printf(name); printf("\n")
#define TELL_EVENT(name, number) \
  printf("step: rank %d  epoch %d  event %d: ", me, at[me].lines, e); printf(name); printf(" %d\n", number)

/* ------------------------------------------------------------------------------------------------------ the rules */

#ifdef BREAK_LATE_ONE_SHORT
#define LAST_LATE(a_line, sig) (AT(a_line).on[sig].sends - (AT(a_line).on[sig].sends > AT(a_line).on[sig].receipts))
#else
#define LAST_LATE(a_line, sig) AT(a_line).on[sig].sends
#endif

#define GREATER(a, b) ((a) > (b) -> (a) : (b))
#define SMALLER(a, b) ((a) < (b) -> (a) : (b))
#define C_OF(a_line, c, r) AT(a_line).rank[r].calls[c]
#define C_OR_MORE(a_line, c, r) (MEMBER(c, r) -> C_OF(a_line, c, r) : COLLECTIVES)
#if N == 2
#define MIN_C(a_line, c) SMALLER(C_OR_MORE(a_line, c, 0), C_OR_MORE(a_line, c, 1))
#define TRUE_MAX_C(a_line, c) GREATER(C_OF(a_line, c, 0), C_OF(a_line, c, 1))
#define ALL_BEYOND(a_line) (at[0].lines >= (a_line) && at[1].lines >= (a_line))
#else
#define MIN_C(a_line, c) SMALLER(SMALLER(C_OR_MORE(a_line, c, 0), C_OR_MORE(a_line, c, 1)), C_OR_MORE(a_line, c, 2))
#define TRUE_MAX_C(a_line, c) GREATER(GREATER(C_OF(a_line, c, 0), C_OF(a_line, c, 1)), C_OF(a_line, c, 2))
#define ALL_BEYOND(a_line) (at[0].lines >= (a_line) && at[1].lines >= (a_line) && at[2].lines >= (a_line))
#endif
#ifdef BREAK_CROSSING_BY_MIN
#define MAX_C(a_line, c) MIN_C(a_line, c)
#else
#define MAX_C(a_line, c) TRUE_MAX_C(a_line, c)
#endif
#define UP_TO_MAX_C(a_line, x) (ev[x].number <= MAX_C(a_line, ev[x].comm))

/* A barrier that crosses the line is executed again by all, so that side effects stay in order. All other calls are replayed. */
#define REPLAYED(x) (from > 0 && ev[x].kind != BARRIER && UP_TO_MAX_C(from, x))
#define HAS_RESULT(r, nth_call) ((AT(from).rank[r].has >> ((nth_call) - 1)) & 1)

#define FROM_LOG(sig) (from > 0 && got[sig] < LAST_LATE(from, sig))
#define AVAILABLE(sig) (FROM_LOG(sig) -> got[sig] - AT(from).on[sig].receipts < AT(from).on[sig].lates : len(net[sig]) > 0)
#define OPEN(x, bit) (ev[x].kind == PICK || AVAILABLE(ON(x, bit)))

/* Finds whether all late messages of rank p have come, and it has executed the late collectives. */
inline check_ready(a_line) {
  if
  :: !at[p].learned -> ready = 0
  :: else
  fi;
#ifndef BREAK_READY_WITHOUT_COLLECTIVES
  for (j : 0 .. 1) {
    if :: MEMBER(j, p) && at[p].calls[j] < MAX_C(a_line, j) -> ready = 0 :: else fi
  }
#endif
#ifndef BREAK_STOP_WITHOUT_LATE
  for (q : 0 .. N - 1) {
    for (j : 0 .. 1) {
      if
      :: q != p && got[SIGNATURE(q, p, j)] < LAST_LATE(a_line, SIGNATURE(q, p, j)) -> ready = 0
      :: else
      fi
    }
  }
#endif
}

/* Finds whether rank p has still to do again what the line of the restart depends on. */
inline check_replaying() {
  at[p].replaying = at[p].join > 0;
  if
  :: from > 0 ->
    for (j : 0 .. 1) {
      if :: MEMBER(j, p) && at[p].calls[j] < MAX_C(from, j) -> at[p].replaying = 1 :: else fi
    }
    for (q : 0 .. N - 1) {
      for (j : 0 .. 1) {
        if
        :: q != p && got[SIGNATURE(q, p, j)] < AT(from).on[SIGNATURE(q, p, j)].sends -> at[p].replaying = 1
        :: q != p && sent[SIGNATURE(p, q, j)] < AT(from).on[SIGNATURE(p, q, j)].receipts -> at[p].replaying = 1
        :: else
        fi
      }
    }
    for (e : 0 .. E - 1) { if :: e >= at[p].pos && ACTOR(e) == p && forced[e] > 0 -> at[p].replaying = 1 :: else fi }
  :: else
  fi
}

/* Finds what each rank can do next. When no more checkpoints come, steps of different ranks commute but for choices among what has
 * come. Then the first rank that can go on without one does; choices are made when none can. */
inline look() {
  d_step {
    found = 0;
    for (p : 0 .. N - 1) {
      f = at[p].pos;
      at[p].can = 0;
      if
      :: at[p].join > 0 -> at[p].can = !at[p].inside || call[at[p].join].came == MEMBERS(ev[event_of[at[p].join]].comm)
      :: at[p].join == 0 && f == E -> skip
      :: at[p].join == 0 && f < E && COLLECTIVE(f) ->
        if
        :: REPLAYED(f) -> at[p].can = HAS_RESULT(p, ev[f].nth)
        :: else ->
          k = 0;
          if
          :: ENTERS(f) -> if :: at[p].inside -> k = MEMBERS(ev[f].comm) :: else fi
          :: else -> if :: GETS(f, p) -> k = GIVERS(f) :: else fi
          fi;
          at[p].can = (call[ev[f].nth].came & k) == k
        fi
      :: at[p].join == 0 && f < E && ev[f].kind == RECV ->
        if
        :: !DECIDES(f) -> bit_of = at[p].last; at[p].can = AVAILABLE(ON(f, bit_of))
        :: DECIDES(f) && forced[f] > 0 -> bit_of = forced[f] - 1; at[p].can = AVAILABLE(ON(f, bit_of))
        :: DECIDES(f) && forced[f] == 0 -> if :: AVAILABLE(ON(f, 0)) || AVAILABLE(ON(f, 1)) -> at[p].can = 2 :: else fi
        fi
      :: else -> at[p].can = 1
      fi;
      if :: asking && LINES > 1 -> check_replaying() :: else fi;
      if
      :: !asking && found -> at[p].can = 0
      :: else -> if :: at[p].can == 1 -> found = 1 :: else fi
      fi
    }
    if
    :: !asking && found -> for (p : 0 .. N - 1) { if :: at[p].can == 2 -> at[p].can = 0 :: else fi }
    :: else
    fi;
    if
    :: asking && !ready && ALL_BEYOND(complete + 1) ->
      ready = 1;
      for (p : 0 .. N - 1) { check_ready(complete + 1) }
    :: else
    fi;
    over = !asking;
    for (p : 0 .. N - 1) { over = over && at[p].pos == E && at[p].join == 0 };
    if :: over -> check_end() :: else fi;
    k = 0
  }
}

/* --------------------------------------------------------------------------------------------------- the program */

inline go_on() {
  at[me].pos = at[me].pos + 1;
  do
  :: at[me].pos < E && !CONCERNS(at[me].pos, me) -> at[me].pos = at[me].pos + 1
  :: else -> break
  od
}

inline take_in(digest) {
  at[me].know = at[me].know | digest;
  assert(ONE_HISTORY(at[me].know))
}

inline send_message() {
  s = ON(e, v);
  sent[s]++;
  TELL_EVENT("sends, signature", s);
  if
#ifndef BREAK_EARLY_SENT_AGAIN
  :: from > 0 && sent[s] <= AT(from).on[s].receipts ->
    TELL("ckpt.send_skipped");
    k = sent[s] - AT(from).on[s].sends;
    assert(k > 0 && k <= AT(from).on[s].earlies);
    assert(AT(from).on[s].early[k - 1] == at[me].know); /* the receiver had the same before the line */
#endif
  :: else -> assert(len(net[s]) < LOGGED); net[s] ! at[me].know, at[me].lines
  fi
}

inline receive_message() {
  s = ON(e, v);
  TELL_EVENT("receives, signature", s);
  if
  :: FROM_LOG(s) ->
    n = AT(from).on[s].late[got[s] - AT(from).on[s].receipts];
    TELL("ckpt.late_taken")
  :: else -> net[s] ? n, m;
    /* Claim 1.3, and that counts find late messages */
    CLAIM(m >= at[me].lines || at[me].logging);
    CLAIM(!at[me].learned || !at[me].logging || (m < at[me].lines) == (got[s] < AT(at[me].lines).on[s].sends));
    CLAIM(m <= at[me].lines + 1);
    if
    :: m > at[me].lines ->
      assert(AT(m).on[s].earlies < LOGGED);
      AT(m).on[s].early[AT(m).on[s].earlies] = n;
      AT(m).on[s].earlies = AT(m).on[s].earlies + 1
    :: else
    fi
  fi;
  got[s]++;
  if
  :: at[me].logging && (!at[me].learned || got[s] <= LAST_LATE(at[me].lines, s)) ->
    k = AT(at[me].lines).on[s].lates;
    assert(k < LOGGED);
    AT(at[me].lines).on[s].late[k] = n;
    AT(at[me].lines).on[s].lates = k + 1
  :: else
  fi;
  take_in(n)
}

/* Logs a result, or what the rank has given if it gets none: replayed, it must be the same. */
inline complete_call() {
  h = ev[e].nth;
  n = (GETS(e, me) -> call[h].given : at[me].know);
  if
  :: GETS(e, me) && ev[e].kind != BARRIER ->
    assert(!call[h].known || call[h].result == n); /* the same for all, before a restart and after it */
    call[h].known = 1;
    call[h].result = n;
    take_in(n)
  :: else
  fi;
  /* Claim 2.3 */
  for (q : 0 .. N - 1) {
    CLAIM(at[me].logging || !CONCERNS(e, q) || !GIVES(e, q) || !GETS(e, me) || ((call[h].lines >> (2 * q)) & 3) >= at[me].lines)
  }
  assert(at[me].calls[ev[e].comm] == ev[e].number - 1);
  at[me].calls[ev[e].comm] = ev[e].number;
  if
  :: at[me].logging && (!at[me].learned || UP_TO_MAX_C(at[me].lines, e)) ->
    AT(at[me].lines).rank[me].result[h - 1] = n;
    AT(at[me].lines).rank[me].has = AT(at[me].lines).rank[me].has | (1 << (h - 1))
  :: else
  fi
}

/* Rank me comes to a collective. */
inline come(nth_call) {
  call[nth_call].came = call[nth_call].came | (1 << me);
  call[nth_call].lines = call[nth_call].lines | (at[me].lines << (2 * me))
}

inline run_collective() {
  if
  :: REPLAYED(e) ->
    TELL("ckpt.coll_replayed");
    h = ev[e].nth;
    n = AT(from).rank[me].result[h - 1];
    if
    :: GETS(e, me) ->
      assert(!call[h].known || call[h].result == n);
      call[h].known = 1;
      call[h].result = n;
      take_in(n)
    :: else -> assert(at[me].know == n)
    fi;
    at[me].calls[ev[e].comm] = ev[e].number;
    if
    :: at[me].logging && (!at[me].learned || UP_TO_MAX_C(at[me].lines, e)) ->
      AT(at[me].lines).rank[me].result[h - 1] = n;
      AT(at[me].lines).rank[me].has = AT(at[me].lines).rank[me].has | (1 << (h - 1))
    :: else
    fi;
    go_on()
  :: !REPLAYED(e) && ENTERS(e) && !at[me].inside ->
    if :: GIVES(e, me) && ev[e].kind != BARRIER -> call[ev[e].nth].given = call[ev[e].nth].given | at[me].know :: else fi;
    come(ev[e].nth);
    at[me].inside = 1;
    TELL_EVENT("comes to collective", ev[e].nth)
  :: else ->
    if :: !ENTERS(e) && GIVES(e, me) -> call[ev[e].nth].given = call[ev[e].nth].given | at[me].know :: else fi;
    if :: !ENTERS(e) -> come(ev[e].nth) :: else fi;
    at[me].inside = 0;
    TELL_EVENT("leaves collective", ev[e].nth);
    complete_call();
    go_on()
  fi
}

/* Finds the next barrier that crosses the line and that rank p has executed before it: they are joined in the order of the program. */
#ifdef BREAK_JOIN_BY_COMMUNICATOR
#define ORDER(x) (ev[x].nth + 4 * (1 - ev[x].comm))
#else
#define ORDER(x) ev[x].nth
#endif

inline next_join() {
  k = (at[p].join > 0 -> ORDER(event_of[at[p].join]) : 0);
  m = 255;
  at[p].join = 0;
  for (f : 0 .. E - 1) {
    if
    :: ev[f].kind == BARRIER && CONCERNS(f, p) && ORDER(f) > k && ORDER(f) < m && UP_TO_MAX_C(from, f) &&
       ev[f].number > MIN_C(from, ev[f].comm) && ev[f].number <= C_OF(from, ev[f].comm, p) ->
      m = ORDER(f);
      at[p].join = ev[f].nth
    :: else
    fi
  }
}

#define HERE at[me].pos

/* Scratch memory is not restored when spin goes back to a choice, so that only state is looked at here. */
inline run_event() {
  if
  :: at[me].join > 0 || !DECIDES(HERE) -> v = at[me].last
  :: at[me].join == 0 && DECIDES(HERE) && forced[HERE] > 0 -> v = forced[HERE] - 1
  :: at[me].join == 0 && DECIDES(HERE) && forced[HERE] == 0 && OPEN(HERE, 0) -> v = 0
  :: at[me].join == 0 && DECIDES(HERE) && forced[HERE] == 0 && OPEN(HERE, 1) -> v = 1
  fi;
  d_step {
    e = at[me].pos;
    if
    :: at[me].join > 0 && !at[me].inside -> come(at[me].join); at[me].inside = 1; TELL("ckpt.barrier_joined")
    :: at[me].join > 0 && at[me].inside -> at[me].inside = 0; p = me; next_join(); TELL("ckpt.barrier_left")
    :: at[me].join == 0 && COLLECTIVE(e) -> run_collective()
    :: at[me].join == 0 && !COLLECTIVE(e) ->
      if
      :: DECIDES(e) ->
        at[me].last = v;
        forced[e] = 0;
        if :: at[me].logging -> AT(at[me].lines).decided[e] = v + 1 :: else fi;
        TELL_EVENT("decides", v);
        take_in(DIGIT(e, v))
      :: else
      fi;
      if
      :: ev[e].kind == SEND -> send_message()
      :: ev[e].kind == RECV -> receive_message()
      :: else
      fi;
      go_on()
    fi;
    k = 0
  }
}

/* ------------------------------------------------------------------------------------------------- the checkpoint */

#define MINE AT(at[me].lines).rank[me]

#ifdef BREAK_CHECKPOINT_IN_REPLAY
#define MAY_CHECKPOINT (asking && at[me].lines == complete && !at[me].inside && at[me].join == 0)
#else
#define MAY_CHECKPOINT (asking && at[me].lines == complete && !at[me].inside && !at[me].replaying)
#endif

inline take_checkpoint() {
  d_step {
    at[me].lines = at[me].lines + 1;
    at[me].logging = 1;
    at[me].learned = 0;
    MINE.pos = at[me].pos;
    MINE.last = at[me].last;
    MINE.know = at[me].know;
    for (j : 0 .. 1) { MINE.calls[j] = at[me].calls[j] }
    for (q : 0 .. N - 1) {
      for (j : 0 .. 1) {
        if
        :: q != me ->
          s = SIGNATURE(q, me, j);
          AT(at[me].lines).on[s].receipts = got[s];
          s = SIGNATURE(me, q, j);
          AT(at[me].lines).on[s].sends = sent[s];
          /* Messages that were early for the line of the restart still are, if they have not been sent again */
          if
          :: from > 0 ->
            for (i : 1 .. LOGGED) {
              if
              :: i <= AT(from).on[s].earlies && AT(from).on[s].sends + i > sent[s] ->
                AT(at[me].lines).on[s].early[AT(at[me].lines).on[s].earlies] = AT(from).on[s].early[i - 1];
                AT(at[me].lines).on[s].earlies = AT(at[me].lines).on[s].earlies + 1
              :: else
              fi
            }
          :: else
          fi
        :: else
        fi
      }
    }
    TELL("ckpt.stored")
  }
}

/* Stores the log without what was not late. */
inline seal_log() {
  d_step {
    /* Claims 1.1 and 2.1 */
    CLAIM(ALL_BEYOND(at[me].lines));
    at[me].logging = 0;
    MINE.stop = at[me].pos;
#ifndef BREAK_CALLS_COUNTED_AT_RETURN
    MINE.inside = at[me].inside;
#endif
    for (q : 0 .. N - 1) {
      for (j : 0 .. 1) {
        if
        :: q != me ->
          s = SIGNATURE(q, me, j);
          k = AT(at[me].lines).on[s].receipts;
          k = (LAST_LATE(at[me].lines, s) > k -> LAST_LATE(at[me].lines, s) - k : 0);
          if
          :: AT(at[me].lines).on[s].lates > k ->
            for (i : 0 .. LOGGED - 1) { if :: i >= k -> AT(at[me].lines).on[s].late[i] = 0 :: else fi }
            AT(at[me].lines).on[s].lates = k
          :: else
          fi
        :: else
        fi
      }
    }
    at[me].sealed = at[me].lines;
    found = 1;
    for (p : 0 .. N - 1) { found = found && at[p].sealed == at[me].lines }
    if
    :: found -> complete = at[me].lines; ready = 0; asking = complete < LINES
    :: else
    fi;
    TELL("ckpt.log_stored")
  }
}

/* ---------------------------------------------------------------------------------------------------- the restart */

/* Counts the sends of rank q on signature s in its log, up to its cut. */
inline count_sends() {
  m = 0;
  h = AT(from).rank[q].last;
  for (f : 0 .. E - 1) {
    if
    :: f >= AT(from).rank[q].pos && f < cut[q] && !COLLECTIVE(f) && CONCERNS(f, q) ->
      if :: DECIDES(f) -> h = AT(from).decided[f] - 1 :: else fi;
      if :: ev[f].kind == SEND && ON(f, h) == s -> m++ :: else fi
    :: else
    fi
  }
}

/* A rank gives when it comes to a collective, not when it returns from it. */
#ifdef BREAK_CALLS_COUNTED_AT_RETURN
#define COME_TO(x, r) ((x) < cut[r])
#else
#define COME_TO(x, r) ((x) < cut[r] || ((x) == cut[r] && ((x) < AT(from).rank[r].stop || AT(from).rank[r].inside)))
#endif

/* Drops the tail of the log of rank p from the first delivery, or result, that depends on what the log of a sender lacks. */
inline cut_log_of_one() {
  bit_of = AT(from).rank[p].last;
  for (s : 0 .. SIGNATURES - 1) { seen[s] = 0 }
  for (e : 0 .. E - 1) {
    if
    :: e >= AT(from).rank[p].pos && e < cut[p] && COLLECTIVE(e) && CONCERNS(e, p) ->
      for (q : 0 .. N - 1) {
        if
#ifdef BREAK_ALL_GIVE_TO_ALL
        :: q != p && CONCERNS(e, q) && e >= AT(from).rank[q].pos && !COME_TO(e, q) -> found = 1; cut[p] = e
#else
        :: q != p && CONCERNS(e, q) && GETS(e, p) && GIVES(e, q) && e >= AT(from).rank[q].pos && !COME_TO(e, q) -> found = 1; cut[p] = e
#endif
        :: else
        fi
      }
    :: e >= AT(from).rank[p].pos && e < cut[p] && !COLLECTIVE(e) && CONCERNS(e, p) ->
      if :: DECIDES(e) -> bit_of = AT(from).decided[e] - 1 :: else fi;
      if
      :: ev[e].kind == RECV ->
        s = ON(e, bit_of);
        q = SOURCE(e, bit_of);
        seen[s] = seen[s] + 1;
        count_sends();
        if
        :: AT(from).on[s].receipts + seen[s] > AT(from).on[s].sends + m -> found = 1; cut[p] = e
        :: else
        fi
      :: else
      fi
    :: else
    fi
  }
}

/* Checks that the log of rank p goes as far as early sends and calls that cross the line need it. */
inline check_cut_of_one() {
  bit_of = AT(from).rank[p].last;
  for (s : 0 .. SIGNATURES - 1) { seen[s] = AT(from).on[s].sends }
  for (e : 0 .. E - 1) {
    if
    :: e >= AT(from).rank[p].pos && e < AT(from).rank[p].stop && COLLECTIVE(e) && CONCERNS(e, p) ->
      CLAIM(!UP_TO_MAX_C(from, e) || (e < cut[p] && HAS_RESULT(p, ev[e].nth)))
    :: e >= AT(from).rank[p].pos && e < AT(from).rank[p].stop && !COLLECTIVE(e) && CONCERNS(e, p) ->
      if :: DECIDES(e) -> bit_of = AT(from).decided[e] - 1 :: else fi;
      if
      :: ev[e].kind == SEND ->
        s = ON(e, bit_of);
        seen[s] = seen[s] + 1;
        CLAIM(seen[s] > AT(from).on[s].receipts || e < cut[p])
      :: else
      fi
    :: else
    fi
  }
}

/* Cuts at the last early send, or call that crosses the line, of the rank itself. */
inline cut_at_own() {
  for (p : 0 .. N - 1) {
    bit_of = AT(from).rank[p].last;
    for (s : 0 .. SIGNATURES - 1) { seen[s] = AT(from).on[s].sends }
    for (e : 0 .. E - 1) {
      if
      :: e >= AT(from).rank[p].pos && e < AT(from).rank[p].stop && COLLECTIVE(e) && CONCERNS(e, p) ->
        if :: UP_TO_MAX_C(from, e) -> cut[p] = e + 1 :: else fi
      :: e >= AT(from).rank[p].pos && e < AT(from).rank[p].stop && !COLLECTIVE(e) && CONCERNS(e, p) ->
        if :: DECIDES(e) -> bit_of = AT(from).decided[e] - 1 :: else fi;
        if
        :: ev[e].kind == SEND ->
          s = ON(e, bit_of);
          seen[s] = seen[s] + 1;
          if :: seen[s] <= AT(from).on[s].receipts -> cut[p] = e + 1 :: else fi
        :: else
        fi
      :: else
      fi
    }
  }
}

inline force_decisions() {
#ifdef BREAK_CUT_AT_OWN_SEND
  for (p : 0 .. N - 1) { cut[p] = 0 }
  cut_at_own();
#else
  for (p : 0 .. N - 1) { cut[p] = AT(from).rank[p].stop }
#ifndef BREAK_NO_CUT
  found = 1;
  do
  :: found -> found = 0; for (p : 0 .. N - 1) { cut_log_of_one() }
  :: else -> break
  od;
#endif
  for (p : 0 .. N - 1) { check_cut_of_one() }
#endif
#ifndef BREAK_DECISIONS_NOT_LOGGED
  for (e : 0 .. E - 1) {
    if
    :: DECIDES(e) && e >= AT(from).rank[ACTOR(e)].pos && e < cut[ACTOR(e)] -> forced[e] = AT(from).decided[e]
    :: else
    fi
  }
#endif
}

inline wipe_line(a_line) {
  for (p : 0 .. N - 1) {
    AT(a_line).rank[p].pos = 0; AT(a_line).rank[p].last = 0; AT(a_line).rank[p].stop = 0;
    AT(a_line).rank[p].has = 0; AT(a_line).rank[p].inside = 0; AT(a_line).rank[p].know = 0;
    for (j : 0 .. 1) { AT(a_line).rank[p].calls[j] = 0 }
    for (j : 0 .. COLLECTIVES - 1) { AT(a_line).rank[p].result[j] = 0 }
  }
  for (s : 0 .. SIGNATURES - 1) {
    AT(a_line).on[s].sends = 0; AT(a_line).on[s].receipts = 0; AT(a_line).on[s].lates = 0; AT(a_line).on[s].earlies = 0;
    for (j : 0 .. LOGGED - 1) { AT(a_line).on[s].late[j] = 0; AT(a_line).on[s].early[j] = 0 }
  }
  for (e : 0 .. E - 1) { AT(a_line).decided[e] = 0 }
}

#ifdef BREAK_OWN_LINE
#define RESTORED(r) at[r].sealed
#else
#define RESTORED(r) from
#endif

inline restore_rank() {
  at[p].inside = 0; at[p].logging = 0; at[p].learned = 0; at[p].join = 0; at[p].replaying = 0; at[p].can = 0;
  at[p].pos = 0; at[p].last = 0; at[p].know = 0; at[p].calls[0] = 0; at[p].calls[1] = 0;
  if
  :: RESTORED(p) > 0 ->
    at[p].pos = AT(RESTORED(p)).rank[p].pos;
    at[p].last = AT(RESTORED(p)).rank[p].last;
    at[p].know = AT(RESTORED(p)).rank[p].know;
    for (j : 0 .. 1) { at[p].calls[j] = AT(RESTORED(p)).rank[p].calls[j] }
  :: else ->
    do
    :: at[p].pos < E && !CONCERNS(at[p].pos, p) -> at[p].pos = at[p].pos + 1
    :: else -> break
    od
  fi;
  for (q : 0 .. N - 1) {
    for (j : 0 .. 1) {
      if
      :: q != p ->
        s = SIGNATURE(p, q, j);
        sent[s] = (RESTORED(p) > 0 -> AT(RESTORED(p)).on[s].sends : 0);
        s = SIGNATURE(q, p, j);
        got[s] = (RESTORED(p) > 0 -> AT(RESTORED(p)).on[s].receipts : 0)
      :: else
      fi
    }
  }
}

/* All ranks die, and others begin from the newest line that all have sealed. What they begin with depends on nothing else. */
inline fail() {
  d_step {
    failures++;
    from = complete;
    printf("step: all die; restart from line %d\n", from);
    for (s : 0 .. SIGNATURES - 1) {
      do
      :: len(net[s]) > 0 -> net[s] ? n, m
      :: else -> break
      od
    }
    for (p : 0 .. N - 1) { restore_rank(); at[p].lines = from; at[p].sealed = from }
    for (i : 1 .. COLLECTIVES) {
      call[i].came = 0; call[i].lines = 0; call[i].given = 0;
      found = 0;
      if :: from > 0 -> found = UP_TO_MAX_C(from, event_of[i]) :: else fi;
      if :: !found -> call[i].known = 0; call[i].result = 0 :: else fi
    }
    for (i : 1 .. LINES) { if :: i > from -> wipe_line(i) :: else fi }
    for (e : 0 .. E - 1) { forced[e] = 0 }
    ready = 0;
    asking = from > 0 && from < LINES;
    if :: from > 0 -> force_decisions(); for (p : 0 .. N - 1) { next_join() } :: else fi;
    k = 0
  }
}

inline may_fail() {
  if
  :: failures < LINES -> fail()
  :: skip
  fi
}

/* At the end each message has been received once, and all ranks agree on what was decided. */
inline check_end() {
  n = 0;
  for (p : 0 .. N - 1) { n = n | at[p].know }
  assert(ONE_HISTORY(n));
  for (s : 0 .. SIGNATURES - 1) { assert(sent[s] == got[s] && len(net[s]) == 0) }
}

proctype Rank(byte me) {
  do
  :: atomic { at[me].can > 0 -> run_event(); look() }
  :: atomic { MAY_CHECKPOINT -> take_checkpoint(); may_fail(); look() }
  :: atomic { at[me].logging && !at[me].learned && ALL_BEYOND(at[me].lines) -> at[me].learned = 1; TELL("ckpt.learned"); look() }
  :: atomic { at[me].logging && ready -> may_fail(); if :: at[me].logging -> seal_log(); may_fail() :: else fi; look() }
  :: atomic { over -> break }
  od
}

/* --------------------------------------------------------------------------------------------------- the programs */

inline add(what, first, second, label) {
  ev[length].kind = what; ev[length].who = first; ev[length].to = second; ev[length].tag = label;
  if :: DECIDES(length) -> ev[length].digit = digits; digits++ :: else fi;
  length++;
  assert(digits <= 4 && length <= E)
}

inline add_collective(what, communicator, root) {
  ev[length].kind = what; ev[length].who = root; ev[length].comm = communicator;
  k = collectives[0] + collectives[1] + 1;
  assert(k <= COLLECTIVES && length < E);
  collectives[communicator]++;
  ev[length].number = collectives[communicator];
  ev[length].nth = k;
  event_of[k] = length;
  length++
}

#define send(source, target, label) add(SEND, source, target, label)
#define recv(source, target, label) add(RECV, source, target, label)
#define pick(who) add(PICK, who, 0, 0)
#define bcast(communicator, root) add_collective(BCAST, communicator, root)
#define reduce(communicator, root) add_collective(REDUCE, communicator, root)
#define allreduce(communicator) add_collective(ALLREDUCE, communicator, 0)
#define barrier(communicator) add_collective(BARRIER, communicator, 0)

/* Rank 0 decides and tells 1, which tells 2. */
inline chain() { pick(0); send(0, 1, 0); recv(0, 1, 0); send(1, 2, 0); recv(1, 2, 0) }

/* Tags that depend on a decision; messages that are received in another order. */
inline tags() {
  send(1, 0, 0); pick(0); send(0, 1, ANY_TAG); send(0, 1, OTHER_TAG); recv(1, 0, 0); recv(0, 1, ANY_TAG); recv(0, 1, OTHER_TAG);
  send(1, 0, ANY_TAG); recv(1, 0, ANY_TAG)
}

/* A receive from any source, from which further receives and tags depend. */
inline wildcard() {
  pick(2); send(2, 0, 0); send(1, 0, 0); recv(ANY, 0, 0); send(0, 1, ANY_TAG); recv(OTHER, 0, 0); recv(0, 1, ANY_TAG);
  send(1, 2, ANY_TAG); recv(1, 2, ANY_TAG)
}

/* A broadcast of a decision. */
inline broadcast() { pick(0); bcast(0, 0); send(1, 0, 0); recv(1, 0, 0) }

/* A broadcast of a decision, and a reduction. */
inline rooted() { pick(0); bcast(0, 0); send(1, 2, 0); pick(2); reduce(0, 1); recv(1, 2, 0); send(2, 0, 1); recv(2, 0, 1) }

/* A message goes round a broadcast, another one round a reduction. */
inline around() {
  pick(0); send(0, 2, 1); bcast(0, 0); pick(1); reduce(0, 2); send(1, 0, 0); recv(0, 2, 1); recv(1, 0, 0); send(0, 2, 0); recv(0, 2, 0)
}

/* Calls in which data flows from all to all, and a barrier. */
inline all_to_all() { pick(0); send(0, 1, 0); allreduce(0); pick(1); recv(0, 1, 0); barrier(0); send(1, 2, 0); recv(1, 2, 0) }

/* Two barriers and a broadcast between them. */
inline barriers() { pick(1); barrier(0); bcast(0, 1); barrier(0); pick(2); send(2, 0, ANY_TAG); recv(2, 0, ANY_TAG) }

/* Rank 2 is told by ranks 1 and 0 after calls in which it takes no part. */
inline pair() { reduce(1, 0); pick(1); send(1, 2, ANY_TAG); recv(1, 2, ANY_TAG); barrier(1); pick(0); send(0, 2, 0); recv(0, 2, 0) }

/* Barriers on two communicators. */
inline two_barriers() { pick(0); barrier(0); barrier(1); send(0, 2, ANY_TAG); recv(0, 2, ANY_TAG) }

/* A wildcard that is overtaken: if the broadcast does not synchronise, the message of rank 2 may be the first one. */
inline overtake() { send(1, 0, 0); recv(ANY, 0, 0); send(0, 1, 1); recv(0, 1, 1); bcast(0, 2); send(2, 0, 0); recv(OTHER, 0, 0) }

/* One of the small ones. */
inline two() { if :: tags() :: broadcast() fi }
inline small() { if :: chain() :: wildcard() :: overtake() :: pair() :: two_barriers() fi }

init {
  atomic {
    PROGRAM();
    d_step {
      for (p : 0 .. N - 1) { restore_rank() }
      k = 0
    }
    look();
    for (i : 0 .. N - 1) { run Rank(i) }
  }
}
