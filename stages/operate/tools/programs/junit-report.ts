import { XMLParser } from 'fast-xml-parser'
import { z } from 'zod'
import { openThreadPool } from '#platform/thread-pool.ts'
import type { ProgramResult } from '#sandbox/sandboxed-program.ts'
import { clip } from '../shorten.ts'

/** One test of a report, named with its suites; a name that comes again has a number. `message` has what the runner said of one that did not pass. */
export type TestCase = { name: string; outcome: TestOutcome; message?: string }
export type TestOutcome = 'passed' | 'failed' | 'error' | 'skipped'

const maxMessage = 2_000

const Text = z.union([z.string(), z.number()]).transform(String)
/** An element without attributes and text is an empty string. */
const Fault = z
  .union([
    z.object({ '@message': Text.default(''), '#text': Text.default('') }),
    Text.transform((text) => ({ '@message': text, '#text': '' })),
  ])
  .array()
const Case = z.object({
  '@name': Text.default(''),
  '@classname': Text.default(''),
  '@file': Text.optional(),
  failure: Fault.optional(),
  error: Fault.optional(),
  skipped: Fault.optional(),
})
type Case = z.infer<typeof Case>
type Suite = { '@name': string; testcase?: Case[] | undefined; testsuite?: Suite[] | undefined }
const Suite: z.ZodType<Suite> = z.object({
  '@name': Text.default(''),
  testcase: z.array(Case).optional(),
  testsuite: z.lazy(() => z.array(Suite)).optional(),
})
/** The parser makes text of an element without anything in it, as node writes it where there are no tests. */
const Suites = z.array(z.union([Suite, z.string().transform((): Suite => ({ '@name': '' }))]))
const Report = z.object({ testsuites: Suites.optional(), testsuite: z.array(Suite).optional() })

const lists = new Set(['testsuites', 'testsuite', 'testcase', 'failure', 'error', 'skipped'])
const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  isArray: (name) => lists.has(name),
})

/**
 * Returns the tests in a JUnit report, as pytest, node:test and vitest write it; undefined for a text that is none, or not a whole one. The
 * program that wrote it ran the repository's code, so it is believed only as far as that is. A large report takes seconds: `readTestReport`
 * has it read in a thread.
 */
export function readJunitReport(xml: string): TestCase[] | undefined {
  if (!/<\/?testsuites?\b[^<>]*>\s*$/.test(xml)) return undefined
  const parsed = Report.safeParse(parsedXml(xml))
  if (!parsed.success) return undefined
  const { testsuites = [], testsuite = [] } = parsed.data
  const times = new Map<string, number>()
  return [...testsuites, ...testsuite]
    .flatMap((suite) => casesOf(suite, []))
    .map((test) => {
      const time = (times.get(test.name) ?? 0) + 1
      times.set(test.name, time)
      return time === 1 ? test : { ...test, name: `${test.name} #${time}` }
    })
}

const runners = new Set(['', 'pytest', 'unittest'])

function parsedXml(xml: string): unknown {
  try {
    return parser.parse(xml)
  } catch {
    return undefined
  }
}

function casesOf({ '@name': own, testcase = [], testsuite = [] }: Suite, around: readonly string[]): TestCase[] {
  const suites = runners.has(own) ? around : [...around, own]
  return [
    ...testcase.map((testCase) => caseOf(testCase, suites)),
    ...testsuite.flatMap((suite) => casesOf(suite, suites)),
  ]
}

/** Returns the classes around a test of a Python file, as pytest names it: `tests/test_a.py::TestB::test_c`. */
function classesOf(file: string, owner: string): string[] {
  const module = file.replace(/\.py$/, '').replaceAll('/', '.')
  return file.endsWith('.py') && owner.startsWith(`${module}.`) ? owner.slice(module.length + 1).split('.') : []
}

function caseOf(testCase: Case, suites: readonly string[]): TestCase {
  const { '@name': name, '@classname': owner, '@file': file, failure, error, skipped } = testCase
  const where = file === undefined ? (owner === 'test' ? '' : owner) : [file, ...classesOf(file, owner)].join('::')
  const named = { name: [where, ...suites.filter((suite) => suite !== where), name].filter(Boolean).join('::') }
  const of = (outcome: TestOutcome, [fault]: z.infer<typeof Fault> = []): TestCase => {
    const message = [fault?.['@message'], fault?.['#text']].filter(Boolean).join('\n')
    return { ...named, outcome, ...(message === '' ? {} : { message: clip(message, maxMessage) }) }
  }
  if (failure !== undefined) return of('failed', failure)
  if (error !== undefined) return of('error', error)
  return skipped === undefined ? { ...named, outcome: 'passed' } : of('skipped', skipped)
}

/** A report of so many bytes takes at most about a quarter of a second of one core. A larger one is read in a thread of its own. */
const maxHereBytes = 256 * 1024

export type ReportQuestion = { xml: string }
export type ReportAnswer = { cases: TestCase[] | undefined }

/** Returns the tests that a program has reported; undefined where there is no whole report, or none that can be read in time. */
export async function readTestReport(
  { report, isReportCut }: Pick<ProgramResult, 'report' | 'isReportCut'>,
  { limitMs = 30_000 }: { limitMs?: number } = {},
): Promise<TestCase[] | undefined> {
  if (report === undefined || isReportCut) return undefined
  const xml = Buffer.from(report).toString()
  if (report.byteLength <= maxHereBytes) return readJunitReport(xml)
  const pool = openThreadPool<ReportQuestion, ReportAnswer>({
    entry: new URL('./junit-thread.ts', import.meta.url),
    name: 'the reader of reports',
    threads: 1,
    limitMs,
    memoryMb: 512,
  })
  try {
    const answer = await pool.ask({ xml })
    return answer.kind === 'report' ? answer.report.cases : undefined
  } finally {
    await pool.close()
  }
}
