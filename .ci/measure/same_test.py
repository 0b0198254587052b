"""Tests of same.py: python3 -m unittest discover -s .ci/measure -p '*_test.py'."""
import argparse, os, sys, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import same


def differences(old, new, rename=(), ignore=()):
    c = same.Comparison(argparse.Namespace(rename=list(rename), ignore=list(ignore)))
    c.value("doc", old, new)
    return c.differences


def verdict(word, **more):
    return {"id": "1e99", "model": "m", "key": {"isl": 128, "rate": None}, "metric": "ttft", "verdict": word,
            "value": 1.5, **more}


class Words(unittest.TestCase):
    def test_renamed(self):
        for old, new in (("worse", "regressed"), ("not fit", "FAIL"), ("watch", "inconclusive"), ("void", "excluded")):
            self.assertEqual(differences({"verdict": old}, {"verdict": new}), [])
        self.assertEqual(len(differences({"verdict": "worse"}, {"verdict": "improved"})), 1)

    def test_lint(self):
        self.assertEqual(differences({"lints": [{"id": "creep", "count": 1}]},
                                     {"lints": [{"id": "drift", "count": 1}]}), [])

    def test_not_remeasured(self):
        self.assertEqual(differences(verdict("missing", reason="gone"),
                                     verdict("not-remeasured", reason={"code": "x"})), [])
        self.assertEqual(len(differences(verdict("missing", reason="other"), verdict("not-remeasured"))), 1)


class Numbers(unittest.TestCase):
    def test_text_has_its_digits(self):
        self.assertEqual(differences("4.2", 4.2400001), [])
        self.assertEqual(len(differences("4.20", 4.2400001)), 1)

    def test_floating_point(self):
        self.assertEqual(differences(0.1 + 0.2, 0.3), [])
        self.assertEqual(len(differences(0.3, 0.3001)), 1)
        self.assertEqual(len(differences(0.3, None)), 1)


class Rows(unittest.TestCase):
    def test_order_does_not_matter(self):
        a, b = verdict("worse"), verdict("same", metric="tpot")
        self.assertEqual(differences({"verdicts": [a, b]}, {"verdicts": [b, a]}), [])

    def test_new_fields_and_reasons_do_not_count(self):
        self.assertEqual(differences(verdict("worse", reason="a"), verdict("regressed", reason={"b": 1}, more=2)), [])

    def test_lost_row_and_field(self):
        self.assertEqual(len(differences({"verdicts": [verdict("same")]}, {"verdicts": []})), 1)
        self.assertEqual(len(differences({"typical": 1}, {"noise": 1})), 1)
        self.assertEqual(differences({"typical": 1}, {"noise": 1}, rename=["typical=noise"]), [])
        self.assertEqual(differences({"typical": 1}, {}, ignore=["typical"]), [])

    def test_changed_id(self):
        self.assertEqual(len(differences({"verdicts": [verdict("same")]}, {"verdicts": [verdict("same", id="2")]})), 1)

    def test_merged_tallies(self):
        old = {"counts": [{"kind": "void", "points": 1}, {"kind": "invalid", "points": 2}]}
        self.assertEqual(differences(old, {"counts": [{"kind": "excluded", "points": 3}]}), [])


if __name__ == "__main__":
    unittest.main()
