# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the logic of scripts/torture. In the folder tests: python3 -B -m unittest torture.test_campaign"""
import shutil
import tempfile
import unittest
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from .campaign.draw import CLASSES_OF_WHOLE_NODES, TAKING, Drawer, Fault, Run, seed_of
from .campaign.judge import CRASHED, HUNG, LEFT, LOST, OK, OPEN_MPI, WRONG, judge
from .campaign.placement import AUTO, Policy, after_repair, cohorts, covers, covers_always, holders, order_of, shares_fate
from .campaign.points import Points
from .campaign.supervise import Faults, Outcome, seconds_of_keepers

SOURCE = Path(__file__).resolve().parents[2] / "src"


class Placement(unittest.TestCase):
    # The same cases as in tests/unit/pairing_test.cpp and placement_test.cpp.
    def test_holders(self):
        self.assertEqual(holders(Policy("buddies", 1), 4), [1, 0, 3, 2])
        self.assertEqual(holders(Policy("buddies", 2), 4), [2, 3, 0, 1])
        self.assertEqual(holders(Policy("buddies", 2), 6), [2, 3, 0, 1, 5, 4])
        self.assertEqual(holders(Policy("buddies", 1), 5), [2, 3, 4, 1, 0])
        self.assertEqual(holders(Policy("ring", 2), 5), [2, 3, 4, 0, 1])
        self.assertEqual(holders(Policy("ring", 9), 4), [3, 0, 1, 2])

    def test_cohorts(self):
        self.assertEqual(cohorts(Policy("xor", 2, 2), 4), [[0, 2], [1, 3]])
        self.assertEqual(cohorts(Policy("xor", 1, 3), 7), [[0, 1, 2], [3, 4, 5, 6]])
        self.assertEqual(cohorts(Policy("rs", 1, 4, 2), 3), [[0, 1, 2]])

    def test_the_library_chooses(self):
        self.assertEqual(order_of((5, 2, 5, 2)), (0, 2, 1, 3))
        self.assertEqual(holders(Policy("buddies", AUTO), 4), [2, 3, 0, 1])
        self.assertEqual(holders(Policy("buddies", AUTO), 4, (0, 2, 1, 3)), [1, 0, 3, 2])
        self.assertEqual(holders(Policy("buddies", AUTO), 5), [2, 3, 4, 1, 0])
        self.assertEqual(holders(Policy("ring", AUTO), 5), [2, 3, 4, 0, 1])
        self.assertEqual(cohorts(Policy("xor", AUTO, 3), 7), [[0, 2, 4, 6], [1, 3, 5]])

    def test_death_of_a_node(self):
        nodes = (1, 1, 2, 2)
        self.assertTrue(shares_fate(Policy("buddies", 1), nodes))
        self.assertFalse(shares_fate(Policy("buddies", 2), nodes))
        self.assertFalse(shares_fate(Policy("buddies", AUTO), nodes))
        self.assertFalse(shares_fate(Policy("buddies", AUTO), (1, 2, 1, 2)))
        self.assertFalse(shares_fate(Policy("buddies", 1), (1, 1, 1, 1)), "there is no other node")
        self.assertTrue(shares_fate(Policy("buddies", AUTO), (1, 1, 1, 2)))
        spares = nodes + (3, 3)
        self.assertTrue(covers_always([Policy("buddies", AUTO)], 4, 2, {0, 1}, spares))
        self.assertFalse(covers_always([Policy("buddies", AUTO)], 4, 2, {0, 2}, spares))
        self.assertTrue(covers_always([Policy("buddies", AUTO)], 4, 2, {0, 2}, (1, 2, 1, 2, 3, 3)))
        self.assertFalse(covers_always([Policy("buddies", 1)], 4, 2, {0, 1}, spares))

    def test_covers(self):
        pairs = Policy("buddies", 1)
        self.assertTrue(covers(pairs, 4, frozenset({0, 2})))
        self.assertFalse(covers(pairs, 4, frozenset({0, 1})))
        self.assertTrue(covers(Policy("rs", 1, 4, 2), 4, frozenset({0, 3})))
        self.assertFalse(covers(Policy("rs", 1, 4, 2), 4, frozenset({0, 1, 3})))
        self.assertFalse(covers(Policy("rs", 1, 4, 2), 2, frozenset({0, 1})))
        self.assertTrue(covers(Policy("xor", 1, 2), 4, frozenset({1, 2})))
        self.assertFalse(covers(pairs, 1, frozenset({0})))

    def test_repair_fills_the_lowest_places_and_closes_up(self):
        self.assertEqual(after_repair((0, 1, 2, 3), (4, ), {1, 2}), ((0, 4, 3), ()))
        self.assertEqual(after_repair((0, 1, 2), (3, 4), {3}), ((0, 1, 2), (4, )))

    def test_any_timing(self):
        pairs = [Policy("buddies", 1)]
        self.assertTrue(covers_always(pairs, 4, 1, {0, 2}))
        self.assertFalse(covers_always(pairs, 4, 2, {0, 1}), "both may die at once")
        self.assertTrue(covers_always(pairs, 4, 2, {0, 4}), "the spare takes the place of rank 0")
        self.assertTrue(covers_always(pairs, 4, 1, {0, 3, 4}), "rank 4 gets one of the two places, never the buddy's")
        # Without a spare three are left of four, a chain: one more is one too many at once, but not in turn.
        self.assertTrue(covers_always(pairs, 4, 0, {0, 2}))
        self.assertFalse(covers_always([Policy("ring", 1), Policy("buddies", 2)], 4, 1, {0, 2}))


class Drawing(unittest.TestCase):
    def setUp(self):
        self.drawer = Drawer(Points(SOURCE))

    def test_all_follows_from_the_seed(self):
        for number in range(50):
            seed = seed_of(7, number)
            self.assertEqual(self.drawer.draw(seed), self.drawer.draw(seed))

    def test_builds_differ_in_runs_over_fabric_only(self):
        with_fabric = Drawer(Points(SOURCE), has_fabric=True)
        paths = set()
        for number in range(200):
            seed = seed_of(3, number)
            run, other = with_fabric.draw(seed), self.drawer.draw(seed)
            paths.add(run.path)
            self.assertEqual(replace(run, path="map") if run.path == "fabric" else run, other)
        self.assertEqual(paths, {"map", "window", "fabric"})
        self.assertEqual(Drawer(Points(SOURCE), path="window").draw(1).path, "window")

    def test_what_is_drawn_makes_sense(self):
        for number in range(500):
            run = self.drawer.draw(seed_of(1, number))
            self.assertGreaterEqual(run.ranks, 2)
            self.assertTrue(3 <= run.processes() <= 7)
            self.assertTrue(all(victim < run.processes() for victim in run.victims))
            self.assertEqual(run.tolerated, run.kind != "beyond")
            for group in run.groups:
                self.assertTrue(1 <= group.policy.separation < run.ranks)
                if group.policy.size:
                    self.assertTrue(group.policy.losses < group.policy.size <= run.ranks)
            if run.tolerated and run.kind != "rebuilt":
                for dead in (frozenset(some) for n in (1, 2) for some in combinations(run.victims, n)):
                    places = frozenset(rank for rank in dead if rank < run.ranks)
                    self.assertTrue(all(covers(group.policy, run.ranks, places) for group in run.groups))

    def test_whole_nodes(self):
        kinds, drawer = set(), Drawer(Points(SOURCE), has_fabric=True, nodes=4, whole_nodes=True)
        for number in range(400):
            run = drawer.draw(seed_of(5, number))
            if run.kind not in CLASSES_OF_WHOLE_NODES:
                self.assertFalse(any(fault.node for fault in run.faults), run.describe())
                continue
            lost = [fault for fault in run.faults if fault.node]
            kinds.add((run.kind, len(lost)))
            self.assertEqual(len(set(run.nodes)), 4)
            for fault in lost:
                self.assertEqual(fault.silent, run.kind == "silent node")
                self.assertEqual(set(fault.ranks), {process for process, node in enumerate(run.nodes) if node == fault.node})
                self.assertTrue(run.victims.issuperset(fault.ranks))
            if run.kind != "node at start":
                self.assertTrue(0 <= lost[0].step < run.steps / 2, "while ranks run")
            if run.kind == "node of spares":
                self.assertGreaterEqual(min(lost[0].ranks), run.ranks)
        expected = {(kind, 1) for kind in CLASSES_OF_WHOLE_NODES} | {("whole node", 2)}
        self.assertEqual(kinds, expected, "all classes come, and a second node while the first is repaired")

    def test_runs_on_nodes(self):
        kinds, drawer = set(), Drawer(Points(SOURCE), has_fabric=True, nodes=3)
        for number in range(300):
            run = drawer.draw(seed_of(4, number))
            kinds.add(run.kind)
            self.assertEqual((len(run.nodes), set(run.nodes)), (run.processes(), {1, 2, 3}))
            self.assertEqual(list(run.nodes), sorted(run.nodes))
            self.assertEqual(sum(map(int, run.ranks_per_node().split(","))), run.processes())
            self.assertIn(run.path, ("auto", "fabric"), "windows only on request")
            if not run.kind.startswith("node"):
                continue
            together = run.faults[0].ranks
            self.assertGreater(len(together), 1)
            node = {run.nodes[rank] for rank in together}
            self.assertEqual((len(node), len(together)), (1, run.nodes.count(*node)), "all of one node")
            self.assertNotEqual(set(run.nodes[:run.ranks]), node, "somebody is left")
            places = frozenset(rank for rank in together if rank < run.ranks)
            covered = all(covers(group.policy, run.ranks, places, order_of(run.nodes[:run.ranks])) for group in run.groups)
            if run.tolerated:
                self.assertTrue(covered)
        self.assertLessEqual({"node", "node beyond", "kill", "silent"}, kinds)
        one = Drawer(Points(SOURCE), has_fabric=True)
        self.assertFalse(any(one.draw(seed_of(4, number)).nodes for number in range(50)))

    def test_all_points_are_drawn(self):
        points = self.drawer.points
        drawn = {entry.split(":")[0] for number in range(3000) for entry in self.drawer.draw(seed_of(2, number)).points}
        self.assertEqual(drawn, set(points.steady + points.recovery + points.of_spares + points.init + points.finish + points.of_keepers + TAKING))


class Timing(unittest.TestCase):
    def test_a_fault_waits_for_a_commit(self):
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        outcome = Outcome(folder)
        faults = Faults(Run(seed=1, faults=[Fault((0, ), 0.5, step=3)]), outcome)
        faults.started = 0.0
        nobody = {0: None}
        for lines, now, waiting in (("1.0 start 5\n1.1 committed 0 2\n", 99, 1), ("1.2 committed 1 4\n", 0, 1), ("", 1e9, 0)):
            with open(folder / "journal.1", "a", encoding="utf-8") as journal:
                journal.write(lines)
            faults.look(now, nobody)
            self.assertEqual(len(faults.waiting), waiting)


    def test_only_a_lost_node_takes_longer_to_end(self):
        run = Run(seed=1, nodes=(1, 1, 2, 2), flush=3, keep=5)
        for victims, nodes, is_longer in ((set(), run.nodes, False), ({0, 2}, run.nodes, False), ({2, 3}, run.nodes, True), ({1}, (), False)):
            self.assertEqual(seconds_of_keepers(replace(run, victims=victims, nodes=nodes)) > 0, is_longer)
        self.assertEqual(seconds_of_keepers(replace(run, victims={2, 3}, flush=0)), 0, "there is no store")


class Judging(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory())) if hasattr(self, "enterContext") else Path(
            tempfile.mkdtemp())
        drawer = Drawer(Points(SOURCE))
        run = next(run for run in map(drawer.draw, range(1000)) if run.kind == "kill" and len(run.groups) == 1)
        self.run = replace(run, ranks=3, spares=0, victims={2}, path="map")
        self.run.groups[0].policy = Policy("ring", 1)

    def verdict(self, journals, output="", **outcome):
        for rank, lines in enumerate(journals):
            text = "".join(f"{time}.0 {line}\n" for time, line in lines)
            (self.folder / f"journal.{rank}").write_text(text, encoding="utf-8")
        (self.folder / "output.txt").write_text(output, encoding="utf-8")
        return judge(self.run, Outcome(self.folder, **outcome))

    @staticmethod
    def good(*more):
        return [(1, "start 5"), (2, "resume role 0 rank 0 of 3 error 0 failed"), *more, (9, "exit")]

    def test_good_runs(self):
        self.assertEqual(self.verdict([self.good(), self.good(), self.good()]).kind, OK)
        self.assertEqual(self.verdict([self.good(), self.good(), [(1, "start 5")]]).kind, OK)

    def test_failures(self):
        short = [(1, "start 5")]
        good = self.good()
        self.assertEqual(self.verdict([good, short, short]).kind, CRASHED)
        self.assertEqual(self.verdict([good, short, short], hung=True).kind, HUNG)
        self.assertEqual(self.verdict([good, short, short], "… ompi_osc_rdma_free+0x12").kind, OPEN_MPI)
        ended = 'prterun has exited due to process rank 0 with PID 7 on node n calling\n"abort". This may have'
        self.assertEqual(self.verdict([good, short, short], ended).kind, OPEN_MPI)
        self.assertEqual(self.verdict([good, short, short], "MPI_ABORT was invoked on rank 0\n" + ended).kind, CRASHED)
        self.assertEqual(self.verdict([good, good, good], left=["1 processes"]).kind, LEFT)
        self.assertEqual(self.verdict([good, good, self.good((3, "fail wrong: bytes"))]).kind, WRONG)
        self.assertEqual(self.verdict([good, good, self.good((3, "fail lost: gone"))]).kind, LOST)

    def test_calls_of_mpi_that_do_not_end(self):
        short, inside, elsewhere = [(1, "start 5")], "--- process 7\n#3 MPIX_Comm_agree\n", "--- process 8\n#3 MPI_Test\n"
        at_end, too = "--- process 9\n#3 MPI_Finalize\n", "--- process 9\n#13 0x0 in ompi_mpi_finalize () from libmpi.so\n"
        for stacks, verdict in ((inside * 2, OPEN_MPI), (inside + elsewhere, HUNG), ("", HUNG), (at_end, OPEN_MPI),
                                (too, OPEN_MPI), (at_end + inside, HUNG)):
            (self.folder / "stacks.txt").write_text(stacks, encoding="utf-8")
            self.assertEqual(self.verdict([short, short, short], hung=True).kind, verdict)

    def test_a_step_that_only_the_dead_knew_to_be_committed(self):
        dead = [(1, "start 5"), (3, "committed 0 4")]
        self.assertEqual(self.verdict([self.good((4, "restored 0 3")), self.good(), dead]).kind, LOST)
        self.assertEqual(self.verdict([self.good((4, "restored 0 4")), self.good(), dead]).kind, OK)

    def test_refusals(self):
        refused = [(1, "start 5"), (2, "refused -99"), (9, "exit")]
        dead = [(1, "start 5")]
        self.assertEqual(self.verdict([refused, refused, dead]).kind, OK)
        self.assertEqual(self.verdict([refused, self.good(), dead]).kind, WRONG)
        self.assertEqual(self.verdict([refused, refused, refused]).kind, WRONG)

    def test_warnings_of_shared_fate(self):
        good = [self.good((3, "created 0 0"))] * 3
        warned = [self.good((3, "created 0 102"))] * 3
        self.assertEqual(self.verdict(good).kind, OK)
        self.assertEqual(self.verdict(warned).kind, WRONG, "there is one node only")
        self.run = replace(self.run, nodes=(1, 1, 2))
        self.assertEqual(self.verdict(good).kind, WRONG)
        self.assertEqual(self.verdict(warned).kind, OK)
        fewer = [(1, "start 5"), (2, "resume role 0 rank 0 of 2 error 0 failed"), (3, "created 0 0"), (9, "exit")]
        self.assertEqual(self.verdict([fewer, fewer, fewer]).kind, OK, "a rank died in Fenix_Init")
        self.run = replace(self.run, kind="node at start")
        self.assertEqual(self.verdict(good).kind, OK, "the ranks may be elsewhere")
        # A spare takes the place of a rank that dies in Fenix_Init.
        self.run = replace(self.run, kind="start and end", spares=1, nodes=(1, 1, 2, 3), victims={1})

        def begun(place, flag):
            return [(1, "start 5"), (2, f"resume role 0 rank {place} of 3 error 0 failed"), (3, f"created 0 {flag}"), (9, "exit")]

        dead = [(1, "start 5")]
        for flag, verdict in ((0, OK), (102, WRONG)):
            self.assertEqual(self.verdict([begun(0, flag), dead, begun(2, flag), begun(1, flag)]).kind, verdict)
        self.run = replace(self.run, nodes=(1, 1, 2, 1))
        self.assertEqual(self.verdict([begun(0, 102), dead, begun(2, 102), begun(1, 102)]).kind, OK)

    def test_losses_need_deaths_beyond_the_policy(self):
        self.run = replace(self.run, tolerated=False, victims={1, 2})
        dead = [(1, "start 5")]
        for failed, kind in (("2", LOST), ("1 2", OK)):
            lost = self.good((4, f"resume role 2 rank 0 of 3 error 0 failed {failed}"), (5, "lost 0 -1 3"))
            self.assertEqual(self.verdict([lost, dead, dead]).kind, kind)
