import { isDeepStrictEqual } from 'node:util'
import { repeatEvery } from '#platform/clock.ts'
import type { EventView } from '#schemas/event-schema.ts'
import type { RunView } from '#schemas/run-schema.ts'
import type { CliContext } from '../cli-context.ts'
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
  /** Is true while the command still ends the run when its model servers never answer. */
  checksServers?: (() => boolean) | undefined
}

/** Shows a run in progress: JSON lines on stdout, else a live screen on a terminal, else plain lines on stderr. */
export function showProgress(runId: string, choice: ProgressChoice, context: CliContext): ShownProgress {
  let state = { ...emptyProgress(runId), checksServers: choice.checksServers?.() ?? false }
  let movedAt = performance.now()
  let display = choice.json ? undefined : openDisplay(context, () => state)
  const onRun = (run: RunView) => {
    const { waiting_for: waitingFor, project_id: projectId } = run
    const composing = run.composing ?? undefined
    if (!isDeepStrictEqual(composing, state.composing)) movedAt = performance.now()
    const held = holdLine({ ...state, composing }, run, performance.now() - movedAt)
    const checksServers = choice.checksServers?.() ?? false
    state = { ...state, composing, waitingFor, projectId, held, checksServers }
    display?.look()
  }
  return {
    ...(choice.json ? {} : { onRun }),
    onEvent(event: EventView) {
      state = foldProgress(state, event)
      movedAt = performance.now()
      const line = JSON.stringify(event)
      choice.onLine?.(line)
      if (choice.json) context.io.out(`${line}\n`)
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

function openDisplay(context: CliContext, state: () => ProgressState): Display {
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
        const notices = [...waitingOf(state(), performance.now()), ...questionsOf(state())]
        for (const notice of notices) io.err(`${visible(notice)}\n`)
      },
      close: () => void stopTicking(),
    }
  }
  const screen = openLiveScreen(terminal)
  const startedAt = performance.now()
  const paint = openPaint(colored)
  const view = () => ({ width: terminal.columns ?? 80, elapsedMs: performance.now() - startedAt, paint })
  const update = () => screen.draw(() => renderScreen(state(), view()))
  return { update, look: update, close: screen.close }
}
