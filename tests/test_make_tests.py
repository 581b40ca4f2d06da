# SPDX-License-Identifier: BSD-3-Clause
"""Tests of tests/make-tests: what becomes of a table, and what is said of mistakes."""
import re
import runpy
import tempfile
import unittest
from pathlib import Path

make_tests = runpy.run_path(str(Path(__file__).with_name("make-tests")))["main"]
FACTS = {"mpi": "/mpi", "libfabric": "ON", "fault_injection": "ON", "sanitizers": "OFF"}
PROGRAM = 'program = "p"\nranks = 4\n'


class Tables(unittest.TestCase):
    def make(self, tables, **facts):
        """Tests and their properties, as CMake gets them: name -> its lines."""
        if isinstance(tables, str):
            tables = {".": tables}
        with tempfile.TemporaryDirectory() as folder:
            for place, text in tables.items():
                path = Path(folder, "source/tests", place, "runs.toml")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            options = ["--source", f"{folder}/source", "--build", f"{folder}/build"]
            make_tests(options + [f"{name}={value}" for name, value in {**FACTS, **facts}.items()])
            lines = Path(folder, "build/tests/runs.cmake").read_text(encoding="utf-8")
        tests = {}
        for line in lines.splitlines():
            name = re.match(r'(?:add_test\(NAME|set_tests_properties\() ?"([^"]*)"', line)
            if name:
                tests[name[1]] = tests.get(name[1], "") + line.replace(folder, "")
        return tests

    def refused(self, table, message, **facts):
        with self.assertRaises(SystemExit) as caught:
            self.make(table, **facts)
        self.assertRegex(str(caught.exception), message)

    def test_lists_are_loops_in_the_order_of_the_name(self):
        made = self.make(f'[[tests]]\nname = "{{b}}.{{a}}"\na = [1, 2]\nb = ["x", "y"]\n{PROGRAM}')
        self.assertEqual(list(made), ["mpi.x.1", "mpi.x.2", "mpi.y.1", "mpi.y.2"])
        made = self.make(f'[[tests]]\nname = "{{b}}.{{a}}"\norder = "a b"\na = [1, 2]\nb = ["x", "y"]\n{PROGRAM}')
        self.assertEqual(list(made), ["mpi.x.1", "mpi.y.1", "mpi.x.2", "mpi.y.2"])

    def test_lists_go_around_rows_where_that_is_said(self):
        table = f'[[tests]]\n%sname = "{{row}}.{{a}}"\na = [1, 2]\n{PROGRAM}rows = [{{ row = "x" }}, {{ row = "y" }}]\n'
        self.assertEqual(list(self.make(table % "")), ["mpi.x.1", "mpi.x.2", "mpi.y.1", "mpi.y.2"])
        self.assertEqual(list(self.make(table % 'around = "a"\n')), ["mpi.x.1", "mpi.y.1", "mpi.x.2", "mpi.y.2"])

    def test_keys_with_several_variables_and_lists_with_names(self):
        made = self.make('[variables]\nsome = ["p.q:0:3", "r:1:2"]\n[[tests]]\nname = "{point}.{victim}"\n"point:victim:count" = ["*some", "s:2:1"]\n'
                         'env = "FENIX_FAULT={point}:{victim}:{count + 1}"\n' + PROGRAM)
        self.assertEqual(list(made), ["mpi.p.q.0", "mpi.r.1", "mpi.s.2"])
        self.assertIn("FENIX_FAULT=p.q:0:4", made["mpi.p.q.0"])

    def test_kinds_tables_and_rows_are_put_together(self):
        made = self.make({".": '[kinds.k]\nname = "{form}"\nprogram = "p"\nranks = 5\nok = "{ranks - 1}"\nargs = "a"\nif = "libfabric"\n',
                          "below": '[[tests]]\nkind = "k"\nargs = "\'b  b\'"\nrows = [{ form = "x" }, { form = "y", ranks = 3, args = "c" },\n'
                                   '{ form = "z", if = "not libfabric" }]\n'})
        self.assertEqual(list(made), ["mpi.x", "mpi.y"])
        self.assertIn('"--ranks" "5" "--ok" "4"', made["mpi.x"])
        self.assertIn('"--ranks" "3" "--ok" "2"', made["mpi.y"])
        self.assertIn('"$<TARGET_FILE:p>" "a" "b  b" "c")'.replace("$", r"\$"), made["mpi.y"])

    def test_words_are_those_of_a_shell(self):
        made = self.make('[[tests]]\nname = "x"\ntwo = "b c"\ncommand = "a {two} {*two} \'d;$\' [0-9]{1,3} {*two if libfabric else 0}"\n')
        self.assertIn(r'COMMAND "a" "b c" "b" "c" "d;\$" "[0-9]{1,3}" "b" "c")', made["x"])

    def test_what_a_build_has_not_is_left_out(self):
        table = f'[[tests]]\nname = "{{path}}"\npath = ["map", "fabric", "mixed"]\n{PROGRAM}[[tests]]\nname = "k"\nenv = "FENIX_FAULT=a:1:1"\n{PROGRAM}'
        self.assertEqual(list(self.make(table)), ["mpi.map", "mpi.fabric", "mpi.mixed", "mpi.k"])
        self.assertEqual(list(self.make(table, libfabric="OFF")), ["mpi.map", "mpi.k"])
        self.assertEqual(list(self.make(table, fault_injection="OFF")), ["mpi.map", "mpi.fabric", "mpi.mixed"])
        self.assertEqual(list(self.make('if = "libfabric"\n' + table, libfabric="OFF")), [])

    def test_limits_and_labels(self):
        made = self.make(f'[[tests]]\nname = "x"\ntimeout = 50\nsanitize = true\nnightly = "ranks > 3"\nenv = "FENIX_TIMEOUT=2"\n{PROGRAM}', sanitizers="ON")
        self.assertRegex(made["mpi.x"], '"--timeout" "150".* TIMEOUT "390" PROCESSORS "2" .*LABELS "mpi;sanitize;nightly"')

    def test_default_set(self):
        made = self.make(f'[[tests]]\nname = "{{point}}.{{path}}"\npoint = ["a", "b"]\npath = ["map", "window"]\nvalues = "point={{point}}"\n{PROGRAM}')
        nightly = [name for name, lines in made.items() if ";nightly" in lines]
        self.assertEqual(len(nightly), 2)
        self.assertIn("FENIX_TEST_VALUES=point=a policy=buddies path=map", made["mpi.a.map"])

    def test_what_the_simulation_has_is_run_once(self):
        table = f'[[tests]]\nname = "{{form}}.{{point}}.{{path}}"\nform = ["commit", "other"]\npoint = ["a", "b", "c"]\npath = ["map", "window"]\nvalues = "form={{form}} point={{point}}"\n{PROGRAM}'
        made = self.make(table)
        self.assertEqual(sum(name.startswith("mpi.other") for name in made), 6)
        self.assertLess(sum(name.startswith("mpi.commit") for name in made), 4)
        self.assertEqual([name for name, lines in made.items() if name.startswith("mpi.commit") and ";nightly" in lines], [])

    def test_examples_of_the_pages(self):
        here = Path(__file__).parent
        examples = re.findall(r"```toml\n(.*?)\n *```", (here / "README.md").read_text(encoding="utf-8"), re.S)
        self.assertEqual(list(self.make(examples[0])), [f"mpi.shrink.{case}" for case in (
            "jump.repair.begin.2", "jump.repair.done.0", "return.repair.begin.2", "return.repair.done.0", "jump.init.end.3")])
        kinds = (here / "mpi/runs.toml").read_text(encoding="utf-8")
        kind = re.search(r"^\[kinds.kill\]$.*?\n\n", kinds, re.S | re.M)[0]
        variables = '[variables]\npaths_and_nodes = ["map", "window", "fabric", "mixed"]\n'
        page = re.findall(r"```toml\n(.*?)\n *```", (here.parent / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.S)
        made = list(self.make(variables + kind + page[0]))
        self.assertEqual((len(made), made[0]), (9, "mpi.kill.sorted.map.commit.sorted.rank0"))
        self.assertEqual(list(self.make(f"[[tests]]\nrows = [\n{page[1]}\n]\n")), ["mpi.recovery_ignored"])

    def test_two_tests_of_one_name(self):
        table = f'[[tests]]\nname = "x"\n{PROGRAM}'
        self.refused({".": table, "below": table}, r"^tests/below/runs.toml: there are two tests mpi.x: the other one is in tests/runs.toml$")
        self.refused(f'[[tests]]\nname = "x"\na = [1, 2]\nargs = "{{a}}"\n{PROGRAM}', "there are two tests mpi.x")

    def test_mistakes_are_told_with_file_key_and_value(self):
        for line, message in {
            'rnaks = 5': "tests/runs.toml: .*of line 1, row 1, .*key 'rnaks' = 5: there is no such key",
            'killed = "many"': "key 'killed' = 'many' is not a number",
            'killed = true': "key 'killed' = True is not a number",
            'sanitize = 1': "key 'sanitize' = 1 is not a condition",
            'args = 1': "key 'args' = 1 is not words",
            'args = "\'a"': "key 'args' = .*: No closing quotation",
            'args = "{a}"': "key 'args' = '{a}': there is no variable 'a'",
            'args = "{a b}"': "key 'args' = '{a b}': {a b} is no expression",
            'a = "{b}"\nb = "{a}"\nargs = "{a}"': "key 'args' = .* needs its own value",
            'if = "libfabrc"': "key 'if' = 'libfabrc': there is no variable 'libfabrc'",
            'kind = "k"': "key 'kind' = 'k': the kinds here are none",
            'path = "maps"': "key 'path' = 'maps': paths are map, ",
            'nodes = "2,3"': "key 'nodes' = '2,3': these are not 4 ranks",
            'matches = "x"': "key 'matches' = 'x': this key is not for a program",
            'command = "x"': "a test has a name, and either a program or a command",
            'a = "*b"\nargs = "{a}"': "'[*]b': there is no list b",
            '"a:b" = ["c"]\nargs = "{a}{b}"': "key 'a:b' = 'c': this has fewer parts than the key",
            'around = "a"': "key 'around' = 'a': there is no list a",
        }.items():
            self.refused(f'[[tests]]\nname = "x"\n{PROGRAM}{line}\n', message)
        self.refused('test = 1\n', "key 'test' = 1: there is no such key")
        self.refused('[variables]\nx\n', "tests/runs.toml: .*line 2")


if __name__ == "__main__":
    unittest.main()
