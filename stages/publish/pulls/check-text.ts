import type { CommitState, StatusButton, StatusReport } from '#code-hosts/code-host.ts'
import type { AgentFunnel } from '#change-sets/funnel.ts'
import type { AppError } from '#domain/error.ts'
import type { GateReport } from '#domain/gate.ts'
import type { Conflict } from '#store/objects/composition.ts'
import type { Publication, PublishedPull } from '#domain/publication.ts'
import { isEnded, type Run } from '#domain/run.ts'
import { cell, code, collapsed, plural, table } from '../markdown.ts'
import { gateText } from '../pull-text.ts'
import { type Going, progressOf, progressText } from './progress-text.ts'

/** Holds what a check run tells of a run. */
export type ToldRun = {
  run: Going & Pick<Run, 'errorCode' | 'reason' | 'stop'>
  publication: Publication
  /** Has an entry for each agent; it is empty while nothing is composed. */
  funnel: readonly AgentFunnel[]
  /** Counts the merged changes by agent. */
  merged: ReadonlyMap<string, number>
  gate: GateReport | undefined
  /** The paths that its patch changes. `isNew`: its commit does not have it. `filesUrl`: the folder in which people see that commit. */
  files: readonly { path: string; isNew: boolean }[]
  filesUrl: string | undefined
  /** Changes that are in no patch, since they collide, break a file or make a test fail. */
  leftOut: readonly Conflict[]
  findings: number
  /** Says why no pull request was opened, if there is a reason that people can act on. */
  held: string | undefined
  runUrl: string | undefined
  isRehearsal: boolean
  /** Is false for what is never published, whoever asks: a fork's, and what the rehearsal model makes. */
  isPublishable: boolean
}

export type CheckText = Pick<StatusReport, 'state' | 'title' | 'summary' | 'buttons'>

const mostTitle = 140

/** Writes the check run of a run. While the run goes on, only the title and the numbers change. */
export function checkText(of: ToldRun): CheckText {
  return { state: stateOf(of), title: titleOf(of), summary: summaryOf(of), buttons: buttonsOf(of) }
}

const mostFaults = 20
const mostReason = 300

/** Writes the check run of a commit that no run is started for, since the `remora.yaml` of the default branch is wrong. */
export function wrongSettingsText({ defaultBranch, fault }: { defaultBranch: string; fault: AppError }): CheckText {
  const { code: errorCode, message } = fault
  const faults = message.split(/; (?=remora\.yaml of )/)
  const listed = faults.slice(0, mostFaults).map((each) => `- ${cell(each)}`)
  const more = faults.length > mostFaults ? [`- and ${faults.length - mostFaults} more`] : []
  const summary = [
    `No run was started, since ${code('remora.yaml')} is wrong (${code(errorCode)}):`,
    [...listed, ...more].join('\n'),
    `Mend it on ${code(defaultBranch)}, whose file counts for all branches. Then the next push is worked on again, and "Re-run" works on the newest commit of the branch.`,
  ].join('\n\n')
  const title = faults.length === 1 ? message : `remora.yaml has ${plural(faults.length, 'fault')}`
  return { state: 'failure', title: `${errorCode}: ${title}`.slice(0, mostTitle), summary, buttons: [] }
}

function stateOf({ run, publication, funnel, findings }: ToldRun): CommitState {
  if (run.status === 'queued') return 'queued'
  if (!isEnded(run.status)) return 'running'
  if (run.status === 'cancelled') return 'cancelled'
  const { fault } = publication
  if (isWithoutCode(run)) return 'neutral'
  // What people do at a branch or a limit that they have set is no failure of the commit.
  if (hasFailed(run) || (fault !== null && !waitsForPeople(fault))) return 'failure'
  const proposed = funnel.some(({ valid, rejected }) => valid > rejected) || hasOpenPull(publication)
  return proposed || fault !== null || findings > 0 || notEnded(run) > 0 ? 'neutral' : 'success'
}

function hasFailed({ status }: ToldRun['run']): boolean {
  return status === 'failed' || status === 'blocked'
}

/** No agent works on any file of the repository, as before its first code. */
function isWithoutCode({ status, errorCode }: ToldRun['run']): boolean {
  return status === 'failed' && errorCode === 'INTAKE_007'
}

/** Counts operations of which nobody knows what they would have found. */
function notEnded({ counts: { failed, blocked } }: Pick<Run, 'counts'>): number {
  return failed + blocked
}

function waitsForPeople({ errorCode }: NonNullable<Publication['fault']>): boolean {
  return errorCode === 'PUBLISH_002' || errorCode === 'PUBLISH_003'
}

function titleOf({ run, publication, funnel, merged, findings }: ToldRun): string {
  const { status } = run
  if (status === 'cancelled') return run.stop?.kind === 'request' ? 'Stopped' : 'Cancelled'
  if (isWithoutCode(run)) return 'No code that its agents work on'
  if (hasFailed(run)) return `Failed: ${run.errorCode ?? ''} ${run.reason ?? ''}`.slice(0, mostTitle).trim()
  if (status === 'queued') return 'Waiting to begin'
  if (!isEnded(status)) return run.stop === null ? progressOf(run) : 'Stopping'
  const open = openPulls(publication)
  const valid = funnel.reduce((sum, row) => sum + row.valid - row.rejected, 0)
  const findingsText = findings === 0 ? '' : `, ${plural(findings, 'finding')}`
  if (open.length > 0) {
    const inside = open.reduce((sum, pull) => sum + changesIn(pull), 0)
    return `${open.map(({ number }) => `#${number}`).join(', ')}: ${plural(inside, 'change')}${findingsText}`
  }
  const done = [...merged.values()].reduce((sum, count) => sum + count, 0)
  if (done > 0) return `${plural(done, 'change')} merged${findingsText}`
  const closed = closedPulls(publication)
  if (closed.length > 0 && valid <= ownIn(closed))
    return `${closed.map(({ number }) => `#${number}`).join(', ')} closed${findingsText}`
  const what = publication.isDismissed ? 'dismissed' : publication.fault === null ? 'ready' : 'not published'
  if (valid > 0) return `${plural(valid, 'change')} ${what}${findingsText}`
  if (findings > 0) return plural(findings, 'finding')
  return notEnded(run) > 0 ? `${plural(notEnded(run), 'operation')} did not end well` : 'Nothing to change'
}

function failureText(run: ToldRun['run']): string {
  const { errorCode, reason } = run
  if (!hasFailed(run)) return ''
  const where =
    errorCode === 'INTAKE_006' ? `. ${code('github.agents')} in ${code('remora.yaml')} names the agents.` : ''
  return `The run has failed with ${code(errorCode ?? '')}: ${cell(reason ?? '')}${where}`
}

function summaryOf(of: ToldRun): string {
  const { run, publication, gate, leftOut, findings, held, runUrl, isRehearsal, isPublishable } = of
  const hasPull = hasOpenPull(publication)
  const parts = [
    isRehearsal
      ? `> This run is of the rehearsal model (no LLM): what it changes only shows how it works${isPublishable ? '' : ', and is not published'}.`
      : '',
    progressText(run),
    run.status === 'cancelled'
      ? `The run was stopped${run.stop?.kind === 'request' ? `: ${cell(run.stop.reason)}` : ''}.`
      : '',
    failureText(run),
    publication.fault === null
      ? ''
      : `Nothing ${hasPull ? 'more ' : ''}could be published: ${code(publication.fault.errorCode)}: ${cell(publication.fault.reason)}`,
    pullsText(publication),
    held === undefined
      ? ''
      : `${hasPull ? 'Not everything is in it' : 'Nothing is published'}: ${held.split('; ').map(cell).join('; ')}.`,
    publication.isDismissed ? 'Somebody has dismissed this run: nothing of it is published.' : '',
    waitingText(of),
    ownPullText(of),
    notEndedText(of),
    funnelText(of),
    filesText(of),
    gate === undefined ? '' : gateText(gate),
    leftOutText(leftOut),
    findings === 0 ? '' : `${plural(findings, 'finding')} of agents, shown as annotations at their lines.`,
    runUrl === undefined ? `Run ${code(run.runId)}.` : `Run [${run.runId}](${runUrl}).`,
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** Leaves out a pull request that has nothing of the run any more, though somebody may have opened it again. */
function openPulls({ pulls }: Publication): PublishedPull[] {
  return pulls.filter((pull) => pull.state === 'open' && changesIn(pull) > 0)
}

const hasOpenPull = (publication: Publication) => openPulls(publication).length > 0

/** Returns the closed ones, whose changes the run does not propose again, whoever asks. */
const closedPulls = ({ pulls }: Publication) => pulls.filter(({ state }) => state === 'closed')

function ownIn(pulls: readonly PublishedPull[]): number {
  return pulls.reduce((sum, { changeSetIds }) => sum + changeSetIds.length, 0)
}

function changesIn({ changeSetIds, carried }: PublishedPull): number {
  return changeSetIds.length + carriedIn(carried)
}

function carriedIn(carried: PublishedPull['carried']): number {
  return carried.reduce((sum, part) => sum + part.changeSetIds.length, 0)
}

function pullsText({ pulls }: Publication): string {
  return pulls
    .filter((pull) => changesIn(pull) > 0)
    .map(({ number, url, state, agent, changeSetIds, carried }) => {
      const earlier = carriedIn(carried)
      const own = `${plural(changeSetIds.length, 'change')} of this run${earlier === 0 ? '' : `, ${earlier} of earlier ones`}`
      return `- ${linkTo(`#${number}`, url)} (${state}${agent === null ? '' : `, ${code(agent)}`}): ${own}`
    })
    .join('\n')
}

/** Names the changes that nobody has decided on, since they are shown nowhere but here. */
function waitingText(of: ToldRun): string {
  const { run, funnel, publication, isPublishable } = of
  const waiting = funnel.reduce((sum, row) => sum + undecided(row), 0)
  if (!isEnded(run.status) || waiting === 0 || !isPublishable || publication.isDismissed) return ''
  const hasButton = buttonsOf(of).some(({ identifier }) => identifier === 'accept_all')
  const all = hasButton ? '"Accept all" takes all of them, ' : ''
  const look = `${code(`remora review ${run.runId}`)} shows each of them`
  return `${plural(waiting, 'change')} ${waiting === 1 ? 'waits' : 'wait'} for somebody to accept: ${all}${look}.`
}

/** Says what the buttons do at a person's pull request, where nothing is published by itself. */
function ownPullText(of: ToldRun): string {
  const { run, publication } = of
  const labels = buttonsOf(of).flatMap(({ identifier, label }) => (identifier === 'dismiss' ? [] : `"${label}"`))
  if (!isOfPerson(of) || labels.length === 0 || hasOpenPull(publication)) return ''
  const branch = code(run.request.repository?.branch ?? '')
  const opens = `${labels.join(' or ')} opens a pull request to ${branch} with what is accepted`
  return `Nothing is published for a person's pull request by itself. ${opens}; merge that one, and the changes are in this one.`
}

const mostFiles = 100

function filesText({ files, filesUrl }: ToldRun): string {
  if (files.length === 0) return ''
  const lines = files.slice(0, mostFiles).map(({ path, isNew }) => {
    if (isNew) return `- ${code(path)} (new)`
    const encoded = path.split('/').map(encodeURIComponent).join('/')
    return `- ${linkTo(code(path), filesUrl && `${filesUrl}/${encoded}`)}`
  })
  const more = files.length > mostFiles ? [`- and ${files.length - mostFiles} more`] : []
  return collapsed(`Changes of ${plural(files.length, 'file')}`, [...lines, ...more].join('\n'))
}

/** `shown` is Markdown. */
function linkTo(shown: string, url: string | undefined): string {
  if (url === undefined || url === '') return shown
  return `[${shown}](${url.replaceAll(/[()]/g, (bracket) => (bracket === '(' ? '%28' : '%29'))})`
}

const mostLeftOut = 5

function leftOutText(leftOut: readonly Conflict[]): string {
  if (leftOut.length === 0) return ''
  const named = leftOut.slice(0, mostLeftOut).map(({ agent, path, errorCode, reason }) => {
    const whose = agent === undefined ? '' : `${code(agent)} in `
    return `- ${whose}${code(path)}: ${cell(reason.slice(0, mostReason))} (${code(errorCode)})`
  })
  const more = leftOut.length > mostLeftOut ? [`- and ${leftOut.length - mostLeftOut} more`] : []
  return [`${plural(leftOut.length, 'change')} left out:`, '', ...named, ...more].join('\n')
}

function notEndedText({ run }: ToldRun): string {
  const count = notEnded(run)
  if (run.status !== 'completed' || count === 0) return ''
  return `${plural(count, 'operation')} did not end well: ${code(`remora retry ${run.runId}`)} tries again.`
}

function isOfPerson({ run: { request } }: ToldRun): boolean {
  return request.repository?.pullRequest !== undefined
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
  const legend =
    'Usable: they fit together, and no file fails a check with them. Proved: every check of their agent was made and passed.'
  return `${table(['agent', 'changes made', 'usable', 'proved', 'accepted', 'rejected', 'merged'], rows)}\n\n${legend}`
}

/** GitHub takes three at most. */
function buttonsOf(of: ToldRun): StatusButton[] {
  const { run, publication, funnel, merged, isPublishable } = of
  if (run.status !== 'completed' || !isPublishable || publication.isDismissed) return []
  const open = funnel.reduce((sum, row) => sum + undecided(row), 0)
  const done = [...merged.values()].reduce((sum, count) => sum + count, 0)
  const ended = done + ownIn(closedPulls(publication))
  const accepted = funnel.reduce((sum, row) => sum + row.accepted + row.acceptedUnverified, -ended)
  const hasPull = hasOpenPull(publication)
  // Of what nobody has asked for, nothing is published in any case.
  const isWanted = !isOfPerson(of) || publication.isAsked
  const accept = isWanted ? `Accept ${plural(open, 'more change')}` : `Accept ${open}, and open a pull request`
  return [
    ...(open > 0 ? [{ identifier: 'accept_all', label: 'Accept all', description: accept }] : []),
    ...(accepted > 0 && !hasPull
      ? [{ identifier: 'open_pull_request', label: 'Open pull request', description: 'With what is accepted' }]
      : []),
    ...(open + accepted > 0 && !hasPull && isWanted
      ? [{ identifier: 'dismiss', label: 'Dismiss', description: 'Publish nothing of this run' }]
      : []),
  ]
}
