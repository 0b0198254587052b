"""Tests of same.py: python3 -m unittest discover -s .ci/measure -p '*_test.py'."""
import argparse, os, sys, tempfile, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import same


def differences(before, after, expect=()):
    """Compares two trees of outputs, given as {path: bytes}."""
    with tempfile.TemporaryDirectory() as top:
        for side, tree in (("before", before), ("after", after)):
            os.makedirs(os.path.join(top, side))
            for path, data in tree.items():
                os.makedirs(os.path.dirname(os.path.join(top, side, path)), exist_ok=True)
                with open(os.path.join(top, side, path), "wb") as f:
                    f.write(data)
        options = argparse.Namespace(expect=list(expect), show=0)
        return same.compare(options, "test", os.path.join(top, "before"), os.path.join(top, "after"))


class Compare(unittest.TestCase):
    def test_equal(self):
        self.assertEqual(differences({"out/a": b"1\n"}, {"out/a": b"1\n"}), 0)

    def test_a_changed_line(self):
        self.assertEqual(differences({"out/a": b"1\n2\n"}, {"out/a": b"1\n3\n"}), 1)
        self.assertEqual(differences({"out/a": b"1\nv 2\n"}, {"out/a": b"1\nv 3\n"}, expect=["^v "]), 0)
        self.assertEqual(differences({"out/a": b"1\nv 2\n"}, {"out/a": b"9\nv 3\n"}, expect=["^v "]), 1)

    def test_a_missing_and_a_new_file(self):
        self.assertEqual(differences({"_site/a": b"1", "_site/b": b"1"}, {"_site/a": b"1"}), 1)
        self.assertEqual(differences({"_site/a": b"1"}, {"_site/a": b"1", "history/b": b"1"}), 1)

    def test_what_is_no_text(self):
        self.assertEqual(differences({"out/p": b"\0\1"}, {"out/p": b"\0\2"}, expect=["."]), 1)

    def test_inputs_do_not_count(self):
        self.assertEqual(differences({"results/a": b"1"}, {"results/a": b"2"}), 0)


if __name__ == "__main__":
    unittest.main()
