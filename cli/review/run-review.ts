import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { AppError, unreachable } from '#domain/error.ts'
import { pagerEnv } from '#platform/child-env.ts'
import { delay, untilAborted } from '#platform/clock.ts'
import { isEnded } from '#domain/run.ts'
import type { ChangeView } from '#schemas/change-schema.ts'
import type { ApiClient } from '../api-client.ts'
import { allChanges } from '../api-lists.ts'
import type { CliContext, Interactive } from '../cli-context.ts'
import type { Where } from '../run/change-conditions.ts'
import type { Service } from '../run/reach-service.ts'
import { openPaint, paintMarkdown, visible } from '../terminal-text.ts'
import { mostContext, namedBases } from './describe-change.ts'
import { type FullScreen, openFullScreen } from './full-screen.ts'
import { renderReview } from './render-review.ts'
import { type Effect, nameOfChange, type ReviewEvent, type ReviewState, startReview } from './review-state.ts'
import { takeEvent } from './take-answer.ts'

/** `beforeScreen` is called just before the terminal is taken. */
type Review = { runId: string; where: Where; terminal: Interactive; beforeScreen(): void }

/**
 * Shows the change sets one after the other until the reviewer quits, and resolves to how it stands then. Decisions are sent
 * as they are made. The terminal is given back in any case. Rejects with the reason of an abort.
 */
export async function runReview(
  { runId, where, terminal, beforeScreen }: Review,
  service: Service,
  context: CliContext,
): Promise<ReviewState> {
  const { agents } = (await service.client.getRun(runId)).request
  const paint = openPaint(context.colored)
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  const stop = new AbortController()
  const signal = AbortSignal.any([service.signal, stop.signal])
  const take = (event: ReviewEvent) => {
    if (stop.signal.aborted) return
    try {
      const step = takeEvent(state, event)
      state = step.state
      screen.draw(renderReview(state, paint))
      start(step.effects)
    } catch (error) {
      reject(error)
    }
  }
  beforeScreen()
  const screen = openFullScreen(terminal, {
    onKey: (key) => take({ kind: 'key', key }),
    onPaste: (text) => take({ kind: 'pasted', text }),
    onResize: (size) => take({ kind: 'resized', size }),
  })
  const perform = openEffects({ runId, screen, signal }, service, context)
  const start = (effects: readonly Effect[]) => {
    for (const effect of effects) {
      if (effect.kind === 'quit') resolve()
      else perform(effect).then(take).catch(reject)
    }
  }
  const begun = startReview({ runId, agents, size: screen.size(), where })
  let state = begun.state
  try {
    screen.draw(renderReview(state, paint))
    start(begun.effects)
    await untilAborted(ended, service.signal)
    return state
  } finally {
    stop.abort()
    await screen.close()
  }
}

type Performing = { runId: string; screen: FullScreen; signal: AbortSignal }
type Performed = Exclude<Effect, { kind: 'quit' }>

const pageLength = 100
const waitMs = 3_000

/** Has effects; a fault that the reviewer can do something about is an event, too. */
function openEffects({ runId, screen, signal }: Performing, service: Service, context: CliContext) {
  const { client } = service
  const list = async ({ where, cursor }: Extract<Effect, { kind: 'list' }>): Promise<ReviewEvent> => {
    // Before the list: a run that has ended by then brings nothing more.
    const { status } = await client.getRun(runId)
    const page = { where, context: mostContext, limit: pageLength, ...(cursor !== null && { cursor }) }
    const { changes, next } = await client.listChanges(runId, page)
    const run = isEnded(status) ? 'ended' : service.isIdle ? 'stands still' : 'goes on'
    return { kind: 'listed', where, changes, next, run }
  }
  const perform = async (effect: Performed): Promise<ReviewEvent> => {
    switch (effect.kind) {
      case 'list':
        return list(effect)
      case 'look':
        return look(client, runId, effect.change)
      case 'decide':
        return { kind: 'decided', wanted: effect, answer: await client.decideSeen(runId, effect) }
      case 'open transcript':
        return openTranscript(effect.change, { screen, signal, client, runId }, context)
      case 'wait':
        await delay(waitMs, signal)
        return { kind: 'waited' }
      default:
        return unreachable(effect)
    }
  }
  return (effect: Performed): Promise<ReviewEvent> =>
    perform(effect).catch((error: unknown) => {
      if (error instanceof AppError && !signal.aborted) {
        return { kind: 'failed', effect, message: `${error.code} ${error.message}` }
      }
      throw error
    })
}

/** Reads how the set stands by now, the earlier sets of its operation, what its agent said, and what it is built on. */
async function look(client: ApiClient, runId: string, change: ChangeView): Promise<ReviewEvent> {
  const { change_set_id: id, operation_id: operation, built_on: needed } = change
  const bases = needed.slice(0, namedBases).map((base) => client.listChanges(runId, { change_set_id: base, limit: 1 }))
  const [changes, { outcome }, ...lists] = await Promise.all([
    Array.fromAsync(allChanges(client, runId, operation, { context: mostContext })),
    client.getOperation(runId, operation),
    ...bases,
  ])
  const builtOn = lists.flatMap((list) => list.changes.slice(0, 1))
  return { kind: 'looked', id, changes, summary: outcome?.summary ?? '', builtOn }
}

type Opening = Pick<Performing, 'screen' | 'signal'> & { client: ApiClient; runId: string }

/** Opens it in the pager that is set; else, or when that fails, on our own screen. */
async function openTranscript(
  change: ChangeView,
  { screen, signal, client, runId }: Opening,
  { config, colored }: CliContext,
): Promise<ReviewEvent> {
  const text = visible(await client.readTranscript(runId, change.operation_id, { format: 'markdown' }))
  const { own } = config.settings
  const pager = own['PAGER'] ?? ''
  const read = { kind: 'transcript' as const, title: `transcript of ${nameOfChange(change)}`, text }
  if (pager.trim() === '' || pager.trim() === 'cat') return read // a text that is only printed would be gone at once
  const painted = paintMarkdown(text, openPaint(colored))
  const code = await screen.lend(() => showIn(pager, painted, { env: { LESS: 'R', ...pagerEnv(own) }, signal }))
  return code === couldNotStart || code === notFound ? read : { kind: 'transcript was read' }
}

type PagerOptions = { env: Readonly<Record<string, string | undefined>>; signal: AbortSignal }

const couldNotStart = 126
const notFound = 127

/** Resolves to the exit code, null when a signal ended it. An abort ends the pager itself, which then restores the terminal. */
async function showIn(pager: string, text: string, { env, signal }: PagerOptions): Promise<unknown> {
  const child = spawn(`exec ${pager}`, { shell: true, stdio: ['pipe', 'inherit', 'inherit'], env })
  const end = () => void child.kill('SIGTERM')
  signal.addEventListener('abort', end, { once: true })
  child.stdin.on('error', () => undefined) // it was left before it had read everything
  child.stdin.end(text)
  const [code]: unknown[] = await once(child, 'close')
  signal.removeEventListener('abort', end)
  return code
}
