"""Writes how each test ended, one JSON line each, to the file that REMORA_OUTCOMES names.

Where REMORA_ONLY names a file, only the tests run whose ids it lists, one JSON string a line.
"""

import json
import os


def pytest_collection_modifyitems(config, items):
    path = os.environ.get("REMORA_ONLY")
    if not path:
        return
    with open(path, encoding="utf-8") as lines:
        wanted = {json.loads(line) for line in lines}
    left_out = [item for item in items if item.nodeid not in wanted]
    items[:] = [item for item in items if item.nodeid in wanted]
    config.hook.pytest_deselected(items=left_out)


def pytest_runtest_logreport(report):
    # The call of a test that passed, or whatever stage of it did not.
    if report.when == "call" or report.outcome != "passed":
        write({"id": report.nodeid, "outcome": report.outcome})


def pytest_collectreport(report):
    if report.failed:
        write({"id": report.nodeid or "collection", "outcome": "failed"})


def write(line):
    with open(os.environ["REMORA_OUTCOMES"], "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
