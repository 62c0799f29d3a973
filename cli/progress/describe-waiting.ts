import { isEnded } from '#domain/run.ts'
import type { RunView } from '#schemas/run-schema.ts'
import type { AwayServer } from '#schemas/waiting-schema.ts'
import { figure, plural } from '../wording.ts'
import type { AwayModel, LackingStore, ProgressState, UsedBudget } from './progress-state.ts'

type Waiting = Pick<ProgressState, 'runId' | 'away' | 'budgets' | 'store' | 'status' | 'checksServers' | 'held'>
type Waits = Pick<Waiting, 'runId' | 'away' | 'budgets' | 'store'> & Partial<Pick<Waiting, 'checksServers'>>
/** Answers and events have this form. */
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

/** Returns the models that the run view says are away. */
export function awayModels({ waiting_for: waitingFor }: Pick<RunView, 'waiting_for'>): AwayModel[] {
  return waitingFor.filter((one) => one.kind === 'models')
}

/** Returns the budgets that the run view says are used up. */
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

/** Returns the object store that the run view says cannot be used. */
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

/**
 * Each model that the run waits for with what its servers said, and that nobody has to do anything here; while this command
 * ends the run of servers that never answer, only that they are checked.
 */
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

/**
 * Gives the lines for a pipe: that a model is away, with what its servers said, once a minute again, and that it is back; also what holds
 * a run in which nothing moves.
 */
export function openWaitingNotices(): (state: Waiting, nowMs: number) => string[] {
  const saidAt = new Map<string, number>()
  const storeNotices = openStoreNotices()
  const budgetNotices = openBudgetNotices()
  let heldSaidAt = -Infinity
  return ({ runId, away, budgets, store, status, checksServers, held }, nowMs) => {
    const isHeldDue = held !== undefined && nowMs - heldSaidAt >= repeatedMs
    if (isHeldDue) heldSaidAt = nowMs
    if (held === undefined) heldSaidAt = -Infinity
    const back = [...saidAt.keys()].filter((model) => away.every((one) => one.model !== model))
    for (const model of back) saidAt.delete(model)
    const due = away.filter(
      ({ model, servers }) => servers !== undefined && nowMs - (saidAt.get(model) ?? -Infinity) >= repeatedMs,
    )
    for (const { model } of due) saidAt.set(model, nowMs)
    const isBack = !isEnded(status)
    return [
      ...storeNotices(store, { nowMs, isBack }),
      ...budgetNotices(budgets, { runId, nowMs, isBack }),
      ...(isBack ? back : []).map((model) => `${modelText(model)} works again`),
      ...modelLines(due, checksServers),
      ...(isHeldDue ? [held] : []),
    ]
  }
}

function openBudgetNotices() {
  const saidAt = new Map<string, number>()
  return (
    budgets: readonly UsedBudget[],
    { runId, nowMs, isBack }: { runId: string; nowMs: number; isBack: boolean },
  ): string[] => {
    const over = [...saidAt.keys()].filter((of) => budgets.every((one) => one.of !== of))
    for (const of of over) saidAt.delete(of)
    const due = budgets.filter(({ of }) => nowMs - (saidAt.get(of) ?? -Infinity) >= repeatedMs)
    for (const { of } of due) saidAt.set(of, nowMs)
    const again = over.map((of) => (of === 'project' ? 'its project has tokens again' : 'the run has tokens again'))
    return [...(isBack ? again : []), ...due.map((one) => budgetLine(runId, one))]
  }
}

function openStoreNotices() {
  let saidAt: number | undefined
  return (store: LackingStore | undefined, { nowMs, isBack }: { nowMs: number; isBack: boolean }): string[] => {
    if (store === undefined) {
      const back = saidAt !== undefined && isBack ? ['the object store works again'] : []
      saidAt = undefined
      return back
    }
    if (saidAt !== undefined && nowMs - saidAt < repeatedMs) return []
    saidAt = nowMs
    return storeLines(store)
  }
}
