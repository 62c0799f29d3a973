import type { CliContext } from '../cli-context.ts'
import { openPaint } from '../progress/paint.ts'
import type { ReportView } from '../progress/result-report.ts'

/** How a report is written to this command's stdout. */
export function reportView({ colored, columns = Infinity }: Pick<CliContext, 'colored' | 'columns'>): ReportView {
  return { paint: openPaint(colored), width: columns }
}
