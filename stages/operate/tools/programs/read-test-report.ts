import { openThreadPool } from '#platform/thread-pool.ts'
import type { ProgramResult } from '#sandbox/sandboxed-program.ts'
import { readJunitReport, type TestCase } from './junit-report.ts'

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
