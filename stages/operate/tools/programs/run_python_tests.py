"""Runs the tests of a repository with pytest where that is installed, else with unittest, and writes JUnit XML.

Arguments: the path of the report, "pytest", "unittest" or "auto", then files and folders; none: all tests. After "unittest-cli" they are
those of `python -m unittest`.
"""
import importlib.util
import os
import sys
import time
import traceback
import unittest
from xml.etree import ElementTree


# So that a test that needs what another one has left is noticed.
REVERSED = os.environ.pop("TESTS_IN_REVERSE", "") == "1"


def run_pytest(report, paths):
    import pytest

    # The cache would be one more file of the working folder.
    options = ["-q", "-p", "no:cacheprovider", "--junitxml", report, "-o", "junit_family=xunit2"]
    return int(pytest.main([*options, *paths], plugins=[Reversing()] if REVERSED else []))


class Reversing:
    def pytest_collection_modifyitems(self, items):
        items.reverse()


class Recorder(unittest.TextTestResult):
    def __init__(self, *args):
        super().__init__(*args)
        self.cases = []
        self.started = 0.0

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()

    def record(self, test, outcome, text=""):
        self.cases.append((test, outcome, text, time.monotonic() - self.started))

    def addSuccess(self, test):
        super().addSuccess(test)
        self.record(test, "passed")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.record(test, "failure", "".join(traceback.format_exception(*err)))

    def addError(self, test, err):
        super().addError(test, err)
        self.record(test, "error", "".join(traceback.format_exception(*err)))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.record(test, "skipped", reason)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.record(test, "passed")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.record(test, "failure", "the test passed, although it is marked as an expected failure")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            outcome = "failure" if issubclass(err[0], test.failureException) else "error"
            self.record(subtest, outcome, "".join(traceback.format_exception(*err)))


def suite_of(paths):
    loader = unittest.TestLoader()
    if REVERSED:
        loader.sortTestMethodsUsing = lambda one, other: (one < other) - (one > other)
    if not paths:
        suite = loader.discover(".")
        folder = next((name for name in ("tests", "test") if os.path.isdir(name)), None)
        # unittest itself finds none there where the folder is no package.
        return suite if suite.countTestCases() or folder is None else loader.discover(folder, top_level_dir=top_of(folder))
    suite = unittest.TestSuite()
    for path in paths:
        if os.path.isdir(path):
            suite.addTests(loader.discover(path, top_level_dir=top_of(path)))
        else:
            folder, name = os.path.split(path)
            suite.addTests(loader.discover(folder or ".", pattern=name, top_level_dir=top_of(folder or ".")))
    return suite


def top_of(folder):
    """The folder from which its modules are imported: the first above it that is no package."""
    top = os.path.abspath(folder)
    while os.path.exists(os.path.join(top, "__init__.py")):
        top = os.path.dirname(top)
    return top


class Runner(unittest.TextTestRunner):
    resultclass = Recorder


def run_unittest(report, paths):
    return write_report(report, Runner(verbosity=1).run(suite_of(paths)))


def run_unittest_cli(report, args):
    ran = unittest.main(module=None, argv=["python -m unittest", *args], testRunner=Runner, exit=False)
    return write_report(report, ran.result)


def write_report(report, result):
    suite = ElementTree.Element("testsuite", name="unittest", tests=str(len(result.cases)))
    for test, outcome, text, seconds in result.cases:
        # The parameters of a subtest may have dots.
        name, space, parameters = test.id().partition(" ")
        owner, _, method = name.rpartition(".")
        method += space + parameters
        case = ElementTree.SubElement(suite, "testcase", classname=owner, name=method, time=f"{seconds:.3f}")
        if outcome != "passed":
            fault = ElementTree.SubElement(case, outcome, message=printable(text.strip().splitlines()[-1:]))
            fault.text = printable([text])
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.ElementTree(root).write(report, encoding="utf-8", xml_declaration=True)
    return 0 if result.wasSuccessful() and result.cases else 5 if not result.cases else 1


def printable(texts):
    """XML takes no control characters."""
    return "".join(c for c in "".join(texts) if c in "\t\n\r" or ord(c) >= 32)


def main(report, runner, *paths):
    if runner == "unittest-cli":
        return run_unittest_cli(report, paths)
    if os.path.isdir("src"):
        sys.path.insert(0, os.path.abspath("src"))
    sys.path.insert(0, os.getcwd())
    wants_pytest = runner == "pytest" or (runner == "auto" and importlib.util.find_spec("pytest") is not None)
    return run_pytest(report, paths) if wants_pytest else run_unittest(report, paths)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
