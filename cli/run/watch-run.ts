import { resolve } from 'node:path'
import type { ApiClient } from '../api-client.ts'
import type { CliContext } from '../cli-context.ts'
import { renderReport } from '../progress/result-report.ts'
import { exitCodeOf } from './exit-code.ts'
import { followRun } from './follow-run.ts'
import { openLineFile } from './output-file.ts'
import { runningService } from './reach-service.ts'
import { reportView } from './report-view.ts'
import { resultView } from './result-view.ts'
import { showProgress, type ShownProgress } from './show-progress.ts'

export type WatchOrder = {
  runId: string
  /** A file for every event. */
  events?: string
  json: boolean
}

/**
 * Follows a run of a running service from its first event to its end, and reports it; it starts nothing, and a run that
 * is no longer watched goes on. RUN_001 for an unknown run, before anything is written.
 */
export async function watchRun(order: WatchOrder, context: CliContext): Promise<void> {
  const client = await runningService(context)
  try {
    await client.getRun(order.runId)
    const events = order.events === undefined ? undefined : await openLineFile(resolve(context.cwd, order.events))
    const progress = showProgress(order.runId, { json: order.json, onLine: events?.add }, context)
    try {
      await followRun(order.runId, progress, { client, signal: context.signal })
    } catch (error) {
      progress.close()
      if (context.signal.aborted) context.io.err(`\nRun ${order.runId} continues; only watching it has stopped.\n`)
      throw error
    } finally {
      await events?.close()
    }
    progress.close()
    await report(order, { client, progress, context })
  } finally {
    await client.close()
  }
}

type Watched = { client: ApiClient; progress: ShownProgress; context: CliContext }

async function report({ runId, json }: WatchOrder, { client, progress, context }: Watched): Promise<void> {
  const state = progress.state()
  const run = await client.getRun(runId)
  const parts = { state, run, patch: { printedBy: `remora diff ${runId}` } }
  if (json) context.io.out(`${JSON.stringify(resultView(parts))}\n`)
  else context.io.out(`\n${renderReport(parts, reportView(context))}`)
  context.io.exit(exitCodeOf(run, state))
}
