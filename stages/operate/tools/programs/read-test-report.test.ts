import { describe, expect, it } from 'vitest'
import { readTestReport } from './junit-report.ts'

const reported = (inside: string) =>
  Buffer.from(`<testsuites><testsuite name="pytest">${inside}</testsuite></testsuites>`)

describe('a large report of tests', () => {
  it('is read in a thread, as a small one is', async () => {
    const cases = Array.from({ length: 6_000 }, (_, at) => `<testcase classname="test_a" name="test_${at}"/>`).join('')
    expect(cases.length).toBeGreaterThan(256 * 1024)
    const read = await readTestReport({ report: reported(cases), isReportCut: false })
    expect(read?.length).toBe(6_000)
    expect(read?.[0]).toEqual({ name: 'test_a::test_0', outcome: 'passed' })
  })

  it('that takes too long is none, and the thread that reads it ends', async () => {
    const attributes = Array.from({ length: 200_000 }, (_, at) => `a${at}="1"`).join(' ')
    const report = reported(`<testcase name="a" ${attributes}/>`)
    expect(await readTestReport({ report, isReportCut: false }, { limitMs: 50 })).toBeUndefined()
  })
})
