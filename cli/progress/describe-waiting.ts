import { isEnded } from '#domain/run.ts'
import type { RunView } from '#schemas/run-schema.ts'
import type { AwayServer } from '#schemas/waiting-schema.ts'
import { figure, plural } from '../wording.ts'
import type { AwayModel, LackingStore, ProgressState, UsedBudget } from './progress-state.ts'

type Waiting = Pick<ProgressState, 'runId' | 'away' | 'budgets' | 'store' | 'status' | 'checksServers' | 'held'>
type Waits = Pick<Waiting, 'runId' | 'away' | 'budgets' | 'store'> & Partial<Pick<Waiting, 'checksServers'>>
type Waited = { kind: string; model?: string | undefined; questions?: number | undefined; of?: string | undefined }

const shownServers = 3
/** While a run waits, a line of output that is no terminal says so once a minute. */
const repeatedMs = 60_000

/** Says in a few words what a run waits for, for a line of a list; empty for nothing. */
export function waitingText(waitingFor: readonly Waited[]): string {
  const parts = waitingFor.flatMap(({ kind, model = '', questions = 0, of }) => {
    if (kind === 'models') return [modelText(model)]
    if (kind === 'store') return ['the object store']
    if (kind === 'budget') return [of === 'project' ? 'tokens for its project' : 'tokens']
    return kind === 'answer' ? [plural(questions, 'answer')] : []
  })
  return parts.length === 0 ? '' : `waits for ${parts.join(' and ')}`
}

/** `default`: the one that the settings name, or the first that the servers offer. */
export function modelText(model: string): string {
  return model === 'default' ? 'the model' : `the model "${model}"`
}

export function awayModels({ waiting_for: waitingFor }: Pick<RunView, 'waiting_for'>): AwayModel[] {
  return waitingFor.filter((one) => one.kind === 'models')
}

export function usedBudgets({
  waiting_for: waitingFor,
  project_id: project,
}: Pick<RunView, 'waiting_for' | 'project_id'>): UsedBudget[] {
  const budgets = waitingFor.filter((one) => one.kind === 'budget')
  return budgets.map(({ of, limit, used, resets_at: resetsAt }) => ({
    of,
    limit,
    used,
    project,
    resetsAt: resetsAt ?? undefined,
  }))
}

export function lackingStore({ waiting_for: waitingFor }: Pick<RunView, 'waiting_for'>): LackingStore | undefined {
  return waitingFor.find((one) => one.kind === 'store')
}

/** The state with what its servers, its object store and its budgets say now. Which models are away its events say. */
export function withRunView(state: ProgressState, run: Pick<RunView, 'waiting_for' | 'project_id'>): ProgressState {
  const found = new Map(awayModels(run).map(({ model, servers }) => [model, servers]))
  return {
    ...state,
    store: lackingStore(run),
    budgets: usedBudgets(run),
    away: state.away.map((one) => ({ ...one, servers: found.get(one.model) ?? [] })),
  }
}

/** Says what the run waits for: each model with what its servers said, its object store, its budgets. */
export function waitingLines({ runId, away, budgets, store, checksServers = false }: Waits): string[] {
  return [...storeLines(store), ...budgets.map((one) => budgetLine(runId, one)), ...modelLines(away, checksServers)]
}

/** `the run has used 12,345 of its 10,000 tokens` */
export function usedUpText({ of, limit, used }: UsedBudget): string {
  const whose = of === 'project' ? 'its project has' : 'the run has'
  const what = of === 'project' ? `the ${plural(limit, 'token')} of today` : `its ${plural(limit, 'token')}`
  return `${whose} used ${figure(used)} of ${what}`
}

function budgetLine(runId: string, budget: UsedBudget): string {
  const raised = `"remora project budget ${budget.project ?? 'PROJECT'} --tokens-per-day N" raises that`
  const goesOn =
    budget.of === 'project'
      ? `it goes on by itself${budget.resetsAt === undefined ? '' : ` at ${shownTime(budget.resetsAt)}`}; ${raised}`
      : `"remora budget ${runId} --tokens N" lets it go on`
  return `waits for tokens: ${usedUpText(budget)}; ${goesOn}`
}

function storeLines(store: LackingStore | undefined): string[] {
  if (store === undefined) return []
  return [`waits for the object store, which is ${store.state}: ${store.message}; it goes on by itself when that works`]
}

function modelLines(away: Waiting['away'], checksServers: boolean): string[] {
  return away.flatMap(({ model, since, servers = [] }) => {
    const rest = servers.length > shownServers ? [`  … and ${servers.length - shownServers} more servers`] : []
    const from = since === undefined ? '' : ` since ${shownTime(since)}`
    const isChecked = checksServers && servers.every((server) => !server.has_answered)
    const head = isChecked
      ? `checks the servers of ${modelText(model)}: none has answered yet`
      : `waits for ${modelText(model)}: no server of it works${from}; it goes on by itself when one does`
    return [head, ...servers.slice(0, shownServers).map((server) => `  ${serverText(server)}`), ...rest]
  })
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

/** A state that lasts: the lines that tell of it, and what is said once it is over. */
type Notice = { lines: readonly string[]; over?: string }

/**
 * Returns the lines to print into a pipe: what the run waits for, repeated once a minute, and a line when the waiting has ended; also
 * what holds a run in which nothing moves. A model that is away is named as soon as its servers are known.
 */
export function openWaitingNotices(): (state: Waiting, nowMs: number) => string[] {
  const printed = new Map<string, { atMs: number; over: string | undefined }>()
  return (state, nowMs) => {
    const notices = noticesOf(state)
    const ended = [...printed].filter(([key]) => !notices.has(key))
    for (const [key] of ended) printed.delete(key)
    const due = [...notices].filter(
      ([key, { lines }]) => lines.length > 0 && nowMs - (printed.get(key)?.atMs ?? -Infinity) >= repeatedMs,
    )
    for (const [key, { over }] of due) printed.set(key, { atMs: nowMs, over })
    const endings = isEnded(state.status) ? [] : ended.flatMap(([, { over }]) => over ?? [])
    return [...endings, ...due.flatMap(([, { lines }]) => lines)]
  }
}

function noticesOf({ runId, away, budgets, store, checksServers, held }: Waiting): ReadonlyMap<string, Notice> {
  const notices = new Map<string, Notice>()
  if (store !== undefined) notices.set('store', { lines: storeLines(store), over: 'the object store works again' })
  for (const budget of budgets) {
    const over = budget.of === 'project' ? 'its project has tokens again' : 'the run has tokens again'
    notices.set(`budget of ${budget.of}`, { lines: [budgetLine(runId, budget)], over })
  }
  for (const one of away) {
    const lines = one.servers === undefined ? [] : modelLines([one], checksServers)
    notices.set(`model ${one.model}`, { lines, over: `${modelText(one.model)} works again` })
  }
  if (held !== undefined) notices.set('held', { lines: [held] })
  return notices
}
