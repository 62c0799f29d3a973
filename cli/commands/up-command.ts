import { once } from 'node:events'
import type { Command } from 'commander'
import { rehearsalLabel } from '#domain/model-kind.ts'
import { openApiClient } from '../api-client.ts'
import type { CliContext } from '../cli-context.ts'
import { pageLink } from '../show-page.ts'
import { startEmbedded } from '../run/reach-service.ts'
import { describeUnfinished, unfinishedRuns, type UnfinishedRuns } from '../run/unfinished-runs.ts'
import { describeSilent, kindOfModel } from '../model-server.ts'
import type { Stack, StackProcess } from '../stack/start-stack.ts'
import { defaultWorkers } from '../stack/worker-pool.ts'
import { modelChoice, portNumber, workersOption } from './shared-options.ts'

type UpOptions = { workers?: number; port: number; model?: string; json?: true }

export function addUpCommand(command: Command, context: CliContext): void {
  command
    .addOption(workersOption('worker processes'))
    .option('--port <port>', 'port of the API; 0 takes a free one', portNumber, context.config.apiPort)
    .option('--model <url>', 'model server, or "rehearsal" (default: REMORA_MODEL_URLS, else rehearsal)', modelChoice)
    .option('--json', 'print one JSON line when ready')
    .action((options: UpOptions) => runStack(options, context))
}

async function runStack(options: UpOptions, context: CliContext): Promise<void> {
  const { io, signal, config } = context
  const stack = await startEmbedded({ ...options, workers: options.workers ?? defaultWorkers() }, context)
  try {
    await untilBegun(stack, signal)
    const { url, token, modelKind } = stack
    const earlier = await unfinishedRuns(openApiClient({ url, token, signal }), { modelKind })
    const model = options.model ?? config.modelUrls
    if (options.json) io.out(`${JSON.stringify(readyView(stack, earlier))}\n`)
    else {
      const label = kindOfModel(model) === 'rehearsal' ? `model: ${rehearsalLabel}\n` : ''
      io.out(`${readyText(stack)}${describeUnfinished(earlier, model)}${label}`)
    }
    io.err(await describeSilent(model ?? 'rehearsal', { whenNone: describeNone, signal }))
    const over = AbortSignal.any([signal, stack.failed])
    if (!over.aborted) await once(over, 'abort')
    if (stack.failed.aborted) io.err('the runs are kept: "remora up" continues them\n')
    stack.failed.throwIfAborted()
    if (!options.json) io.err('stopping\n')
  } finally {
    await stack.stop()
  }
}

/** The ports of workers are known when they have come up; a stack whose workers never do fails. */
async function untilBegun({ begun, failed }: Stack, signal: AbortSignal): Promise<void> {
  const over = AbortSignal.any([signal, failed])
  if (!over.aborted) await Promise.race([begun, once(over, 'abort')])
}

function describeNone(server: string): string {
  return `CONFIG_005 no model server answers at ${server}: runs wait until it does; see that the URL is right, it usually ends with /v1`
}

function metricsOf({ healthPort }: StackProcess): string | undefined {
  return healthPort === undefined ? undefined : `http://127.0.0.1:${healthPort}/metrics`
}

function readyView({ url, token, processes }: Stack, { goingOn, waiting }: UnfinishedRuns) {
  const waitingRuns = waiting.map((run) => run.run_id)
  return {
    url,
    token,
    processes: processes().map((running) => ({
      service: running.service,
      pid: running.pid,
      metrics_url: metricsOf(running),
    })),
    earlier_runs: goingOn,
    waiting_runs: waitingRuns,
  }
}

function readyText(stack: Stack): string {
  const processes = stack
    .processes()
    .map((running) =>
      `  ${running.service.padEnd(10)} ${`${running.pid}`.padEnd(8)} ${metricsOf(running) ?? ''}`.trimEnd(),
    )
  const access = [`export REMORA_API_URL=${stack.url}`, `export REMORA_TOKEN=${stack.token}`]
  return `${['ready', ...processes, '', ...access, '', `look at it: ${pageLink(stack)}`].join('\n')}\n`
}
