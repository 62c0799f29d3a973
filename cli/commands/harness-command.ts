import { InvalidArgumentError, Option, type Command } from 'commander'
import { harnessAgent } from '#bundles/bundle-files.ts'
import { openLog } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { proxyOf } from '#platform/env.ts'
import type { CliContext } from '../cli-context.ts'
import { describeReport } from '../harness/describe-report.ts'
import { allShapes } from '../harness/shapes.ts'
import { type ComparedSide, constraints, parseComparedSide, type SideSettings } from '../harness/side.ts'
import { openPaint } from '../terminal-text.ts'
import { agentsHere, requireKnown } from '../run/known-agents.ts'
import { requireWritable, writeWhole } from '../run/output-file.ts'
import { commaList, modelServers, numberBetween, positiveUpTo } from './shared-options.ts'

type HarnessOptions = Omit<SideSettings, 'stream'> & {
  stream?: true
  agent: string
  model?: string
  modelName?: string
  requests: number
  concurrency: number
  shapes?: string[]
  seed: number
  timeout: number
  minCalled: number
  compare?: ComparedSide
  out?: string
  json?: true
}

const shapeNames = allShapes.map(({ name }) => name)

/** `remora harness`: measures in this process how well a model calls tools. Exit code 1 when it calls them too rarely. */
export function addHarnessCommand(harness: Command, context: CliContext): void {
  const toolChoice = new Option('--tool-choice <choice>', 'of all turns but the last').choices(['required', 'auto'])
  const constraint = "an additional constraint on replies, as a bundle's grammar"
  harness
    .option('--agent <name>', "the bundle whose system prompt is used: harness, of the agents' folder", harnessAgent)
    .option('--model <url>', 'model server, or "rehearsal" (default: REMORA_MODEL_URLS, else rehearsal)', modelServers)
    .option('--model-name <name>', 'the model, where the server has several (default: REMORA_MODEL, else the first)')
    .option('--requests <count>', 'of every prompt', positiveUpTo(10_000), 40)
    .option('--concurrency <count>', 'agents at once', positiveUpTo(1024), 25)
    .option('--temperature <number>', 'of every request', numberBetween(0, 2), 0)
    .option('--max-tokens <count>', 'of a reply', positiveUpTo(1_000_000), 256)
    .addOption(toolChoice.default('required'))
    .addOption(new Option('--constraint <form>', constraint).choices(constraints).default('none'))
    .option(
      '--no-tool-guide',
      'leave the list of the tools out of the system prompt, as runs do unless model.request.tool_guide is set',
    )
    .option('--stream', 'stream the replies, which gives the time to the first token (default: REMORA_MODEL_STREAM)')
    .option('--shapes <names>', `only these: ${shapeNames.join(', ')}`, shapeList)
    .option('--seed <number>', 'of the names, paths and numbers in the requests', positiveUpTo(999_999_999), 1)
    .option('--timeout <seconds>', 'of one request', positiveUpTo(3600), 120)
    .option('--min-called <share>', 'the least share of requests answered with a call', numberBetween(0, 1), 0.9)
    .option(
      '--compare <other>',
      'the same requests to another server, or in another way: tool_choice=auto,temperature=0.1,…',
      parseComparedSide,
    )
    .option('--out <file>', 'write the JSON report there, too')
    .option('--json', 'print the report as one JSON document')
    .action((options: HarnessOptions, command: Command) => measure(options, context, command))
}

async function measure(options: HarnessOptions, context: CliContext, command: Command): Promise<void> {
  const { io, config, signal, terminal } = context
  const { agent, out, json, shapes = shapeNames, minCalled } = options
  if (agent !== harnessAgent) {
    requireKnown([agent], await agentsHere(config))
    command.error(
      `error: --agent ${agent}: the tools of ${agent} need a repository, and are not measured here; ` +
        `write the prompt into a bundle named ${harnessAgent}, or see how ${agent} does with: remora run --agents ${agent} --limit 10`,
      { exitCode: 2 },
    )
  }
  if (out !== undefined) await requireWritable(out)
  const { toolChoice, constraint, temperature, maxTokens, toolGuide, requests, concurrency, seed } = options
  const stream = options.stream ?? config.modelStream
  const order = {
    agentsDir: config.agentsDir,
    shapes: allShapes.filter(({ name }) => shapes.includes(name)),
    model: options.model ?? config.modelUrls,
    modelName: options.modelName ?? config.modelName,
    apiKey: config.modelApiKey,
    proxy: proxyOf(config.environment),
    environment: config.environment,
    settings: { toolChoice, constraint, temperature, maxTokens, toolGuide, stream },
    compare: options.compare,
    timeoutMs: options.timeout * 1000,
    retryBudgetMs: config.retryBudgetMs,
    requests,
    concurrency,
    seed,
    minCalled,
  }
  // Loaded only here: the worker's loop and the model client, which no other command needs.
  const { runHarness } = await import('../harness/run-harness.ts')
  const report = await runHarness(order, { terminal, log: retryLog(context) }, signal)
  const document = `${JSON.stringify(report)}\n`
  if (out !== undefined) await writeWhole(out, [document])
  io.out(json ? document : describeReport(report, openPaint(context.colored)))
  if (!report.passed) io.exit(1)
}

function retryLog({ io, config, verbose }: CliContext) {
  if (!verbose()) return undefined
  const secrets = config.modelApiKey === undefined ? [] : [config.modelApiKey]
  return openLog({ service: 'harness', level: 'debug', redactor: openRedactor(secrets), write: io.err })
}

function shapeList(text: string, before: string[] = []): string[] {
  const names = commaList(text, before)
  const unknown = names.find((name) => !shapeNames.includes(name))
  const known = shapeNames.join(', ')
  if (unknown !== undefined) {
    throw new InvalidArgumentError(`There is no shape ${JSON.stringify(unknown)}: known are ${known}.`)
  }
  if (names.length === 0) throw new InvalidArgumentError(`It must name some of ${known}.`)
  return names
}
