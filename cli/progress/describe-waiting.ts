import { isEnded } from '#domain/run.ts'
import { modelText, usedUpText } from '#domain/timeline/words.ts'
import type { AwayServer, WaitingFor } from '#schemas/waiting-schema.ts'
import { goingOn, type ProgressState } from './progress-state.ts'

type Waits = {
  runId: string
  projectId?: string | undefined
  waitingFor: readonly WaitingFor[]
  checksServers?: boolean
  approvedAtMs?: number | undefined
}

const shownServers = 3
/** While a run waits, a line of output that is no terminal says so once a minute. */
const repeatedMs = 60_000

/** Says what a followed run waits for. */
export function waitsOf(
  state: Pick<ProgressState, 'runId' | 'seen' | 'status' | 'checksServers' | 'approvedAtMs'>,
): Waits {
  const { waiting_for: waitingFor = [], project_id: projectId } = goingOn(state) ?? {}
  const { runId, checksServers, approvedAtMs } = state
  return { runId, projectId, waitingFor, checksServers, approvedAtMs }
}

/** Says what the run waits for: each model with what its servers said, its object store, its budgets. */
export function waitingLines(waits: Waits): string[] {
  return [...noticesOf(waits).values()].flatMap(({ lines }) => lines)
}

function budgetLine(budget: Wait<'budget'>, { runId, projectId = 'PROJECT' }: Waits): string {
  const raised = `"remora project budget ${projectId} --tokens-per-day N" raises that`
  const goesOn =
    budget.of === 'project'
      ? `it goes on by itself${budget.resets_at === null ? '' : ` at ${shownTime(budget.resets_at)}`}; ${raised}`
      : `"remora budget ${runId} --tokens N" lets it go on`
  return `waits for tokens: ${usedUpText(budget)}; ${goesOn}`
}

type Wait<Kind extends WaitingFor['kind']> = Extract<WaitingFor, { kind: Kind }>

function modelLines({ model, since, servers }: Wait<'models'>, { checksServers = false }: Waits): string[] {
  const rest = servers.length > shownServers ? [`  … and ${servers.length - shownServers} more servers`] : []
  const isChecked = checksServers && servers.every((server) => !server.has_answered)
  const head = isChecked
    ? `checks the servers of ${modelText(model)}: none has answered yet`
    : `waits for ${modelText(model)}: no server of it works since ${shownTime(since)}; it goes on by itself when one does`
  return [head, ...servers.slice(0, shownServers).map((server) => `  ${serverText(server)}`), ...rest]
}

function serverText({ url, has_answered: hasAnswered, last_error: error, next_probe: next }: AwayServer): string {
  const never = hasAnswered ? '' : ', and has never answered'
  const again = next !== null ? `; asked again at ${shownTime(next)}` : ''
  return `${url}: ${error ?? 'no answer'}${never}${again}`
}

/** `2026-11-01 12:00:03Z` of a time in ISO 8601. */
function shownTime(time: string): string {
  return time.replace('T', ' ').replace(/\.\d+Z$/, 'Z')
}

/** Holds the lines that tell of a wait, and what is printed when it is over. `isOnce`: the lines are printed once, and only an event ends the wait. */
type Notice = { lines: readonly string[]; over?: string; isOnce?: true }

/** Returns the lines for a pipe: what the run waits for, once a minute and when that has ended, and what holds it. */
export function openWaitingNotices(): (state: ProgressState, held: string | undefined, nowMs: number) => string[] {
  const printed = new Map<string, { atMs: number; over: string | undefined; isOnce: boolean }>()
  return (state, held, nowMs) => {
    const notices = noticesOf(waitsOf(state))
    if (held !== undefined) notices.set('held', { lines: [held] })
    // A conductor that hears a message waits for nothing until it has decided what that changes: its approval is no nearer.
    const lasts = (key: string) => notices.has(key) || key === approvalKey(state)
    const ended = [...printed].filter(([key]) => !lasts(key))
    for (const [key] of ended) printed.delete(key)
    const due = [...notices].filter(([key]) => {
      const { atMs = -Infinity, isOnce = false } = printed.get(key) ?? {}
      return !isOnce && nowMs - atMs >= repeatedMs
    })
    for (const [key, { over, isOnce = false }] of due) printed.set(key, { atMs: nowMs, over, isOnce })
    const endings = isEnded(state.status) ? [] : ended.flatMap(([, { over }]) => over ?? [])
    return [...endings, ...due.flatMap(([, { lines }]) => lines)]
  }
}

function approvalKey({ approvedAtMs = 0 }: Pick<Waits, 'approvedAtMs'>): string {
  return `approval after ${approvedAtMs}`
}

function noticesOf(waits: Waits): Map<string, Notice> {
  const notices = new Map<string, Notice>()
  for (const wait of waits.waitingFor) {
    if (wait.kind === 'store') {
      const line = `waits for the object store, which is ${wait.state}: ${wait.message}; it goes on by itself when that works`
      notices.set('store', { lines: [line], over: 'the object store works again' })
    } else if (wait.kind === 'budget') {
      const over = wait.of === 'project' ? 'its project has tokens again' : 'the run has tokens again'
      notices.set(`budget of ${wait.of}`, { lines: [budgetLine(wait, waits)], over })
    } else if (wait.kind === 'approval' && Date.parse(wait.since) > (waits.approvedAtMs ?? 0)) {
      const line = `waits for the approval of its plan: "remora show ${waits.runId} --plan" shows it, "remora approve ${waits.runId}" lets it go on`
      notices.set(approvalKey(waits), { lines: [line], over: 'its plan is approved: the run goes on', isOnce: true })
    } else if (wait.kind === 'models') {
      const over = `${modelText(wait.model)} works again`
      notices.set(`model ${wait.model}`, { lines: modelLines(wait, waits), over })
    }
  }
  return notices
}
