import type { ApiClient } from '../api-client.ts'
import type { RunView } from '../api-views.ts'
import type { CliContext } from '../cli-context.ts'
import { renderReport, type PatchResult } from '../progress/result-report.ts'
import { exitCodeOf } from './exit-code.ts'
import { reportView } from './report-view.ts'
import { resultView } from './result-view.ts'
import type { ShownProgress } from './show-progress.ts'
import { whatBecameOf } from './unfinished-runs.ts'

/** A run that was followed to its end; `earlier` are the runs the stack went on with beside it. */
export type FollowedRun = {
  progress: ShownProgress
  run: RunView
  patch: PatchResult
  earlier: readonly string[]
  /** Of `--model`, where the stack was this command's own. */
  model: string | undefined
}

/** Says how the run went, as a person's report or as the result line, and sets the exit code. */
export async function reportRun(
  { progress, run, patch, earlier, model }: FollowedRun,
  { client, json, context }: { client: ApiClient; json: boolean; context: CliContext },
): Promise<void> {
  const state = progress.state()
  if (json) context.io.out(`${JSON.stringify(resultView({ state, run, patch }, earlier))}\n`)
  else context.io.out(`\n${renderReport({ state, run, patch, model }, reportView(context))}`)
  if (!json) context.io.out(await whatBecameOf(earlier, client))
  context.io.exit(exitCodeOf(run, state))
}
