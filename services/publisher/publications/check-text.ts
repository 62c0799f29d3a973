import type { CommitState, StatusButton, StatusReport } from '#code-hosts/code-host.ts'
import type { AgentFunnel } from '#composition/funnel.ts'
import type { AppError } from '#domain/error.ts'
import type { GateReport } from '#domain/gate.ts'
import type { Publication } from '#domain/publication.ts'
import { isEnded, type Run } from '#domain/run.ts'
import { code, cell, plural, table } from '#publication/markdown.ts'
import { gateText } from '#publication/pull-text.ts'

/** What a check run says of a run. */
export type ToldRun = {
  run: Pick<Run, 'counts' | 'errorCode' | 'phase' | 'reason' | 'request' | 'runId' | 'status' | 'stop'>
  publication: Publication
  /** By agent; empty while nothing is composed. */
  funnel: readonly AgentFunnel[]
  /** How many changes of each agent were merged. */
  merged: ReadonlyMap<string, number>
  gate: GateReport | undefined
  /** Changes that are in no patch, since they collide, break a file or make a test fail. */
  leftOut: number
  findings: number
  /** Why no pull request was opened, if there is a reason that people can act on. */
  held: string | undefined
  runUrl: string | undefined
  isRehearsal: boolean
}

export type CheckText = Pick<StatusReport, 'state' | 'title' | 'summary' | 'buttons'>

const mostTitle = 140

/** Of a run that goes on: the part of the text that changes is the title and the numbers. */
export function checkText(told: ToldRun): CheckText {
  return { state: stateOf(told), title: titleOf(told), summary: summaryOf(told), buttons: buttonsOf(told) }
}

const mostFaults = 20

/** Of a commit that no run is started for, since the `remora.yaml` of the default branch is wrong. */
export function wrongSettingsText({
  defaultBranch,
  fault: { code: errorCode, message },
}: {
  defaultBranch: string
  fault: AppError
}): CheckText {
  const faults = message.split(/; (?=remora\.yaml of )/)
  const listed = faults.slice(0, mostFaults).map((one) => `- ${cell(one)}`)
  const more = faults.length > mostFaults ? [`- and ${faults.length - mostFaults} more`] : []
  const summary = [
    `No run was started, since ${code('remora.yaml')} is wrong (${code(errorCode)}):`,
    [...listed, ...more].join('\n'),
    `Mend it on ${code(defaultBranch)}, whose file counts for all branches. Then the next push is worked on again; "Re-run" has this commit worked on.`,
  ].join('\n\n')
  return { state: 'failure', title: `${errorCode} ${message}`.slice(0, mostTitle), summary, buttons: [] }
}

function stateOf({ run, publication, funnel, findings }: ToldRun): CommitState {
  if (run.status === 'queued') return 'queued'
  if (!isEnded(run.status)) return 'running'
  if (run.status === 'cancelled') return 'cancelled'
  const { fault } = publication
  // What people do at a branch or a limit that they have set is no failure of the commit.
  if (run.status === 'failed' || (fault !== null && !waitsForPeople(fault))) return 'failure'
  const proposed = funnel.some(({ valid, rejected }) => valid > rejected)
  return proposed || findings > 0 ? 'neutral' : 'success'
}

function waitsForPeople({ errorCode }: NonNullable<Publication['fault']>): boolean {
  return errorCode === 'PUBLISH_002' || errorCode === 'PUBLISH_003'
}

function titleOf({ run, publication, funnel, merged, findings }: ToldRun): string {
  const { status, phase, counts } = run
  if (status === 'cancelled') return run.stop?.kind === 'request' ? 'Stopped' : 'Cancelled'
  if (status === 'failed') return `Failed: ${run.errorCode ?? ''} ${run.reason ?? ''}`.slice(0, mostTitle).trim()
  if (!isEnded(status)) {
    const all = Object.values(counts).reduce((sum, count) => sum + (count ?? 0), 0)
    const open = (counts.pending ?? 0) + (counts.ready ?? 0) + (counts.dispatched ?? 0) + (counts.running ?? 0)
    if (status === 'queued') return 'Waiting to begin'
    return phase === 'execution' ? `${all - open} of ${plural(all, 'operation')} done` : `In progress: ${phase}`
  }
  const open = publication.pulls.filter(({ state }) => state === 'open')
  const valid = funnel.reduce((sum, one) => sum + one.valid - one.rejected, 0)
  const found = findings === 0 ? '' : `, ${plural(findings, 'finding')}`
  if (open.length > 0) return `${open.map(({ number }) => `#${number}`).join(', ')}: ${plural(valid, 'change')}${found}`
  const done = [...merged.values()].reduce((sum, count) => sum + count, 0)
  if (done > 0) return `${plural(done, 'change')} merged${found}`
  const what = publication.isDismissed ? 'dismissed' : publication.fault === null ? 'proposed' : 'not published'
  if (valid > 0) return `${plural(valid, 'change')} ${what}${found}`
  return findings > 0 ? plural(findings, 'finding') : 'Nothing to change'
}

function summaryOf(told: ToldRun): string {
  const { run, publication, gate, leftOut, findings, held, runUrl, isRehearsal } = told
  const parts = [
    isRehearsal ? '> The rehearsal model (no LLM) has made these changes: they only show how it works.' : '',
    run.status === 'cancelled'
      ? `The run was stopped${run.stop?.kind === 'request' ? `: ${cell(run.stop.reason)}` : ''}.`
      : '',
    run.status === 'failed' ? `The run has failed with ${code(run.errorCode ?? '')}: ${cell(run.reason ?? '')}` : '',
    publication.fault === null
      ? ''
      : `Nothing could be published: ${code(publication.fault.errorCode)} ${cell(publication.fault.reason)}`,
    pullsText(publication),
    held === undefined
      ? ''
      : `${hasOpenPull(publication) ? 'Not everything is in it' : 'There is no pull request'}: ${cell(held)}.`,
    waitingText(told),
    funnelText(told),
    gate === undefined ? '' : gateText(gate),
    leftOut === 0 ? '' : `${plural(leftOut, 'change')} left out: they collide with others, or break a file or a test.`,
    findings === 0 ? '' : `${plural(findings, 'finding')} of agents, shown as annotations at their lines.`,
    runUrl === undefined ? `Run ${code(run.runId)}.` : `Run [${run.runId}](${runUrl}).`,
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

const hasOpenPull = ({ pulls }: Publication) => pulls.some(({ state }) => state === 'open')

function pullsText({ pulls }: Publication): string {
  return pulls
    .map(({ number, state, agent, changeSetIds, carried }) => {
      const earlier = carried.reduce((sum, one) => sum + one.changeSetIds.length, 0)
      const own = `${plural(changeSetIds.length, 'change')} of this run${earlier === 0 ? '' : `, ${earlier} of earlier ones`}`
      return `- #${number} (${state}${agent === null ? '' : `, ${code(agent)}`}): ${own}`
    })
    .join('\n')
}

/** What nobody has decided on is nowhere but here. */
function waitingText({ run, funnel, isRehearsal }: ToldRun): string {
  const waiting = funnel.reduce((sum, one) => sum + undecided(one), 0)
  if (!isEnded(run.status) || waiting === 0 || isRehearsal) return ''
  const look = `${code(`remora review ${run.runId}`)} shows each of them`
  return `${plural(waiting, 'change')} ${waiting === 1 ? 'waits' : 'wait'} for somebody to accept: "Accept all" takes all of them, ${look}.`
}

function undecided({ valid, accepted, acceptedUnverified, rejected }: AgentFunnel): number {
  return Math.max(0, valid - accepted - acceptedUnverified - rejected)
}

function funnelText({ funnel, merged }: Pick<ToldRun, 'funnel' | 'merged'>): string {
  const rows = funnel.map(({ agent, generated, valid, verified, accepted, acceptedUnverified, rejected }) => {
    const decided = [accepted + acceptedUnverified, rejected, merged.get(agent) ?? 0]
    return [code(agent), generated, valid, verified, ...decided].map(String)
  })
  if (rows.length === 0) return ''
  const legend = 'Usable: they fit together and break nothing. Proved: every check of their agent holds.'
  return `${table(['agent', 'changes made', 'usable', 'proved', 'accepted', 'rejected', 'merged'], rows)}\n\n${legend}`
}

/** GitHub takes three at most. */
function buttonsOf({ run, publication, funnel, merged }: ToldRun): StatusButton[] {
  if (run.status !== 'completed' || run.request.repository?.isFork === true || publication.isDismissed) return []
  const open = funnel.reduce((sum, one) => sum + undecided(one), 0)
  const done = [...merged.values()].reduce((sum, count) => sum + count, 0)
  const accepted = funnel.reduce((sum, one) => sum + one.accepted + one.acceptedUnverified, -done)
  const hasPull = hasOpenPull(publication)
  return [
    ...(open > 0
      ? [{ identifier: 'accept_all', label: 'Accept all', description: `Accept ${plural(open, 'more change')}` }]
      : []),
    ...(accepted > 0 && !hasPull
      ? [{ identifier: 'open_pull_request', label: 'Open pull request', description: 'With what is accepted' }]
      : []),
    ...(open + accepted > 0 && !hasPull
      ? [{ identifier: 'dismiss', label: 'Dismiss', description: 'Publish nothing of this run' }]
      : []),
  ]
}
