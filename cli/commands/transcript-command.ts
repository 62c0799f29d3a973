import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import type { ApiClient } from '../api-client.ts'
import type { CliContext } from '../cli-context.ts'
import { requireWritable, writeWhole } from '../run/output-file.ts'
import { withRuns } from '../run/reach-service.ts'
import { findOperation } from '../run/find-operation.ts'
import { openPaint, paintMarkdown, visible } from '../terminal-text.ts'
import { positiveUpTo } from './shared-options.ts'

type TranscriptOptions = { format: 'markdown' | 'json'; json?: true; out?: string; attempt?: number; follow?: true }

export function addTranscriptCommand(command: Command, context: CliContext): void {
  command
    .argument('<run>', 'run id')
    .argument('<operation...>', 'operation id, or [AGENT] PATH [NAME] as "remora show" prints it')
    .addOption(new Option('--format <format>', 'how to print').choices(['markdown', 'json']).default('markdown'))
    .option('--json', 'the same as --format json')
    .option('--attempt <number>', 'an earlier attempt, which was handed back or lost', positiveUpTo(999_999))
    .option('-f, --follow', 'print it as it comes, until the operation has ended; as JSON, an entry a line')
    .addOption(new Option('-o, --out <file>', 'write it to a file instead').conflicts('follow'))
    .action(async (runId: string, operation: string[], { json, out, follow, ...given }: TranscriptOptions) => {
      const choice = json ? { ...given, format: 'json' as const } : given
      const path = out === undefined ? undefined : resolve(context.cwd, out)
      if (path !== undefined) await requireWritable(path)
      await withRuns(context, async ({ client }) => {
        const operationId = await findOperation(client, runId, operation)
        if (follow) return printParts(client.followTranscript(runId, operationId, choice), context)
        const text = await client.readTranscript(runId, operationId, choice)
        const shown = choice.format === 'json' ? `${text}\n` : visible(text)
        if (path !== undefined) await writeWhole(path, [shown])
        else context.io.out(choice.format === 'json' ? shown : paintMarkdown(shown, openPaint(context.colored)))
      })
    })
}

async function printParts(frames: ReturnType<ApiClient['followTranscript']>, context: CliContext): Promise<void> {
  const paint = openPaint(context.colored)
  for await (const frame of frames) {
    if (frame.type !== 'event') continue
    const { markdown } = frame.event
    const text = markdown === undefined ? JSON.stringify(frame.event) : paintMarkdown(visible(markdown), paint)
    context.io.out(`${text}\n`)
  }
}
