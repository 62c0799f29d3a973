/** Entry of the thread that reads one large report of tests. */
import { answerRequests } from '#platform/thread-entry.ts'
import { readJunitReport } from './junit-report.ts'
import type { ReportAnswer, ReportQuestion } from './junit-report.ts'

answerRequests<ReportQuestion, ReportAnswer>(({ xml }, begin) => {
  begin(0)
  return { cases: readJunitReport(xml) }
})
