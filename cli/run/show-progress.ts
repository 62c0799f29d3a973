import { isDeepStrictEqual } from 'node:util'
import { repeatEvery } from '#platform/clock.ts'
import type { EventCategory } from '#domain/events/event-table.ts'
import type { EventView } from '#schemas/event-schema.ts'
import type { RunView } from '#schemas/run-schema.ts'
import type { CliContext } from '../cli-context.ts'
import { eventLine } from '../progress/live-lines.ts'
import { foldProgress } from '../progress/fold-progress.ts'
import { openLiveScreen } from '../progress/live-screen.ts'
import { holdLine } from '../progress/describe-hold.ts'
import { openWaitingNotices } from '../progress/describe-waiting.ts'
import { openNewQuestions } from '../progress/describe-question.ts'
import { emptyProgress, type ProgressState } from '../progress/progress-state.ts'
import { openPlainLines, renderScreen } from '../progress/render-progress.ts'
import { openPaint, visible } from '../terminal-text.ts'
import type { Follower } from './follow-run.ts'

export type ShownProgress = Follower & {
  state(): ProgressState
  close(): void
}

export type ProgressChoice = {
  json: boolean
  onLine?: ((line: string) => void) | undefined
  /** Prints a line for each event of these categories instead of the progress, or of all events with `json`. */
  categories?: readonly EventCategory[] | undefined
  /** Is true while the command still ends the run when its model servers never answer. */
  checksServers?: (() => boolean) | undefined
}

/**
 * Shows a run in progress: JSON lines on stdout, or lines of text for some categories of events, else a live screen on a terminal, else
 * plain lines on stderr.
 */
export function showProgress(runId: string, choice: ProgressChoice, context: CliContext): ShownProgress {
  let state = { ...emptyProgress(runId), checksServers: choice.checksServers?.() ?? false }
  let movedAt = performance.now()
  const { categories } = choice
  const isShown = choice.json || categories !== undefined
  const showEvent = (event: EventView, line: string) => {
    if (categories?.includes(event.category) === false) return
    context.io.out(choice.json ? `${line}\n` : `${visible(eventLine(event))}\n`)
  }
  const quietMs = () => performance.now() - movedAt
  let display = isShown ? undefined : openDisplay(context, () => state, quietMs)
  const onRun = (run: RunView) => {
    const { seen } = state
    if (!isDeepStrictEqual(run.composing, seen?.composing ?? null)) movedAt = performance.now()
    state = { ...state, seen: run, checksServers: choice.checksServers?.() ?? false }
    display?.look()
  }
  return {
    ...(isShown ? {} : { onRun }),
    onEvent(event: EventView) {
      state = foldProgress(state, event)
      movedAt = performance.now()
      const line = JSON.stringify(event)
      choice.onLine?.(line)
      if (isShown) showEvent(event, line)
      else display?.update()
    },
    state: () => state,
    close() {
      display?.close()
      display = undefined
    },
  }
}

type Display = { update(): void; look(): void; close(): void }

function openDisplay(context: CliContext, state: () => ProgressState, quietMs: () => number): Display {
  const { terminal, io, colored } = context
  if (terminal === undefined || context.verbose()) {
    const lineFor = openPlainLines()
    const questionsOf = openNewQuestions()
    const waitingOf = openWaitingNotices()
    const update = () => {
      const line = lineFor(state(), performance.now())
      if (line !== undefined) io.err(`${line}\n`)
    }
    // A line is also due when no event comes for long.
    const stopTicking = repeatEvery(1000, async () => {
      if (state().startedAtMs !== undefined) update()
    })
    return {
      update,
      look() {
        update()
        // Not for every event: of one that was missed for long, the question may be answered.
        const notices = [
          ...waitingOf(state(), holdLine(state(), quietMs()), performance.now()),
          ...questionsOf(state()),
        ]
        for (const notice of notices) io.err(`${visible(notice)}\n`)
      },
      close: () => void stopTicking(),
    }
  }
  const screen = openLiveScreen(terminal)
  const startedAt = performance.now()
  const paint = openPaint(colored)
  const view = () => ({
    width: terminal.columns ?? 80,
    elapsedMs: performance.now() - startedAt,
    quietMs: quietMs(),
    paint,
  })
  const update = () => screen.draw(() => renderScreen(state(), view()))
  return { update, look: update, close: screen.close }
}
