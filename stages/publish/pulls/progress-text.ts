import { unreachable } from '#domain/error.ts'
import { isEnded, type Run } from '#domain/run.ts'
import { code, plural } from '../markdown.ts'

export type Going = Pick<Run, 'away' | 'composing' | 'conductor' | 'counts' | 'phase' | 'request' | 'runId' | 'status'>

/** Says in a title how far a run is that has begun. */
export function progressOf({ phase, counts, composing, conductor }: Going): string {
  switch (phase) {
    case 'snapshot':
      return 'Reading the code'
    case 'discovery':
      return 'Finding the definitions'
    case 'planning':
      return 'Planning what to do'
    case 'execution': {
      const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
      const { pending, ready, dispatched, running, waiting } = counts
      const open = pending + ready + dispatched + running + waiting
      if (waitsForApproval(conductor)) return 'The plan waits for its approval'
      if (all === 0 && conductor?.kind === 'open') return 'Planning what to do'
      return `${all - open} of ${plural(all, 'operation')} done`
    }
    case 'review':
      return proofOf(composing)
    default:
      return unreachable(phase)
  }
}

function proofOf(composing: Run['composing']): string {
  const { gateRuns, gateMost = 0, files = 0, filesProved = 0 } = composing ?? {}
  if (gateRuns !== undefined) return `Running the tests: ${plural(gateRuns, 'run')} done, of ${gateMost} at most`
  return files === 0
    ? 'Putting the changes together'
    : `Proving the changes: ${filesProved} of ${plural(files, 'file')}`
}

function waitsForApproval(conductor: Run['conductor']): boolean {
  return conductor?.kind === 'open' && conductor.waits?.kind === 'approval'
}

/** Says what goes on that the title has no room for. */
export function progressText({ runId, status, phase, composing, conductor, request, away }: Going): string {
  if (isEnded(status)) return ''
  const models = away.map(({ model }) => code(model)).join(', ')
  const waits = models === '' ? '' : `No server of the model ${models} answers: what needs it waits.`
  const tests = phase === 'review' && composing?.gateRuns !== undefined ? (request.verify?.command ?? '') : ''
  const gate =
    tests === ''
      ? ''
      : `${code(tests)} runs without the changes and with them. A change that makes it fail is left out.`
  const show = `${code(`remora show ${runId} --plan`)} shows the plan, ${code(`remora approve ${runId}`)} approves it.`
  return [waits, waitsForApproval(conductor) ? show : '', gate].filter((part) => part !== '').join('\n\n')
}
