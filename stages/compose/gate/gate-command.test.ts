import { describe, expect, it } from 'vitest'
import { readJunitReport } from '#stages/operate/tools/programs/junit-report.ts'
import { causeIn } from './cause-in.ts'
import { reportingProgram } from './gate-command.ts'

const report = '/tmp/remora-gate.xml'
const node = `--test-reporter=junit --test-reporter-destination=${report} --test-reporter=spec --test-reporter-destination=stdout`
const pytest = `--junitxml=${report} -o junit_family=xunit1 -p no:cacheprovider`

describe("a gate's command", () => {
  it.each([
    ['pytest -q tests', `pytest ${pytest} -q tests`],
    ['python3 -m pytest', `python3 -m pytest ${pytest}`],
    ['/opt/venv/bin/python -m pytest -x', `/opt/venv/bin/python -m pytest ${pytest} -x`],
    ['/opt/venv/bin/pytest -x', `/opt/venv/bin/pytest ${pytest} -x`],
    ['node --test test/a.js', `node --test ${node} test/a.js`],
    ['PYTHONPATH=src:. pytest -q', `PYTHONPATH=src:. pytest ${pytest} -q`],
    ['cd lib/core && A=1 B= node --test', `cd lib/core && A=1 B= node --test ${node}`],
  ])('%s is run so that it writes a report', async (command, script) => {
    expect((await reportingProgram(command))?.command).toEqual(['sh', '-c', script])
  })

  it.each([
    ['python3 -m unittest', `python3 -c "$0" ${report} unittest`],
    ['cd x && /opt/venv/bin/python -m unittest discover', `cd x && /opt/venv/bin/python -c "$0" ${report} unittest`],
    ['python -m unittest -v pkg.test_x', `python -c "$0" ${report} unittest-cli -v pkg.test_x`],
    ['python3 -m unittest discover -s tests', `python3 -c "$0" ${report} unittest-cli discover -s tests`],
  ])('%s is run by a program that writes a report', async (command, script) => {
    expect((await reportingProgram(command))?.command).toEqual([
      'sh',
      '-c',
      script,
      expect.stringContaining('import unittest'),
    ])
  })

  it.each([
    'pytest-3 x',
    'A=$(date) pytest',
    'cd "a b" && pytest',
    'node --test-only',
    'node --test --test-reporter=tap',
    'make test',
    'pytest && true',
    'tox -e py',
  ])('%s is run as it is', async (command) => {
    expect(await reportingProgram(command)).toBeUndefined()
  })
})

describe('the name of a test', () => {
  it.each([
    ['python3 -m unittest', 'tests.test_a.T::test_b', 'tests.test_a.T.test_b'],
    ['pytest', 'tests/test_a.py::T::test_b', 'tests/test_a.py::T::test_b'],
    ['pytest', 'tests/test_a.py::test_b[$(id)] #2', "'tests/test_a.py::test_b[$(id)]' #2"],
    ['python3 -m unittest', 'a b.T::`id`', "'a b.T.`id`'"],
    ['node --test', '/workspace/$(id).test.js::a', "--test-name-pattern='^a$' '$(id).test.js'"],
    ['node --test', "/workspace/it's.js::/workspace/it's.js", String.raw`'it'\''s.js'`],
    [
      'node --test',
      '/workspace/a.test.js::outer::adds (1 + 1)',
      String.raw`--test-name-pattern='^outer adds \(1 \+ 1\)$' a.test.js`,
    ],
    ['node --test', "/workspace/a.test.js::isn't #2", String.raw`--test-name-pattern='^isn'\''t$' a.test.js #2`],
    ['node --test', '/workspace/a.test.js::/workspace/a.test.js', 'a.test.js'],
  ])('of %s can be pasted after it: %s', async (command, reported, name) => {
    expect((await reportingProgram(command))?.nameOf(reported)).toBe(name)
  })
})

describe('what a program says it failed for', () => {
  it.each([
    [
      'the first line with an error, not the last',
      'ok\ngo: go.mod requires go >= 1.99\n\nFAIL\n',
      'go: go.mod requires go >= 1.99',
    ],
    [
      'the test that fails, not where',
      '--- FAIL: TestE (0.00s)\n    x_test.go:6: error\nFAIL\nexit 1',
      '--- FAIL: TestE (0.00s)',
    ],
    [
      'the end of a traceback',
      'Traceback (most recent call last):\n  File "a.py", line 1\n    raise ValueError("error")\nValueError: error\n',
      'ValueError: error',
    ],
    [
      "pytest's line for it",
      'collection failure\nImportError while importing test module\nE   ModuleNotFoundError: No module named x',
      'ModuleNotFoundError: No module named x',
    ],
    ['else the last line', 'one\ntwo\n\n', 'two'],
    ['and that there is none', '\n', 'it wrote nothing'],
  ])('is %s', (_what, output, cause) => {
    expect(causeIn(output)).toBe(cause)
  })
})

const suite = (inside: string) => `<?xml version="1.0"?><testsuites>${inside}</testsuites>\n`
const named = (xml: string) => readJunitReport(xml)?.map(({ name, outcome }) => [name, outcome])

describe('a JUnit report', () => {
  it('tells tests of one name apart by their suites, and else by number', () => {
    const one = (name: string, inside = '') => `<testcase name="${name}" classname="test">${inside}</testcase>`
    const works = `<testsuite name="A">${one('works')}</testsuite><testsuite name="B">${one('works', '<failure message="no"/>')}</testsuite>`
    expect(named(suite(works + one('alone') + one('alone')))).toEqual([
      ['alone', 'passed'],
      ['alone #2', 'passed'],
      ['A::works', 'passed'],
      ['B::works', 'failed'],
    ])
  })

  it('of pytest has its modules', () => {
    const xml = '<testsuite name="pytest"><testcase classname="tests.test_a" name="test_b"/></testsuite>'
    expect(named(suite(xml))).toEqual([['tests.test_a::test_b', 'passed']])
    const older = '<testcase classname="tests.test_a.TestB" name="test_c[1]" file="tests/test_a.py"/>'
    expect(named(suite(`<testsuite name="pytest">${older}</testsuite>`))).toEqual([
      ['tests/test_a.py::TestB::test_c[1]', 'passed'],
    ])
  })

  it.each(['', 'no xml', suite('<testsuite><testcase name="a"/></testsuite>').slice(0, -16), '<other/>'])(
    'is none where it is cut or something else: %j',
    (xml) => {
      expect(readJunitReport(xml)).toBeUndefined()
    },
  )
})
