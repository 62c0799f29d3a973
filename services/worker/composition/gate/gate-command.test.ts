import { describe, expect, it } from 'vitest'
import { readJunitReport } from '../../tools/programs/junit-report.ts'
import { reportingProgram } from './gate-command.ts'

const report = '/tmp/remora-gate.xml'
const node = `--test-reporter=junit --test-reporter-destination=${report} --test-reporter=spec --test-reporter-destination=stdout`
const pytest = `--junitxml=${report} -p no:cacheprovider`

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
    expect(await reportingProgram(command)).toEqual(['sh', '-c', script])
  })

  it.each([
    ['python3 -m unittest', `python3 -c "$0" ${report} unittest`],
    ['cd x && /opt/venv/bin/python -m unittest discover', `cd x && /opt/venv/bin/python -c "$0" ${report} unittest`],
    ['python -m unittest -v pkg.test_x', `python -c "$0" ${report} unittest-cli -v pkg.test_x`],
    ['python3 -m unittest discover -s tests', `python3 -c "$0" ${report} unittest-cli discover -s tests`],
  ])('%s is run by a program that writes a report', async (command, script) => {
    expect(await reportingProgram(command)).toEqual(['sh', '-c', script, expect.stringContaining('import unittest')])
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
  })

  it.each(['', 'no xml', suite('<testsuite><testcase name="a"/></testsuite>').slice(0, -16), '<other/>'])(
    'is none where it is cut or something else: %j',
    (xml) => {
      expect(readJunitReport(xml)).toBeUndefined()
    },
  )
})
