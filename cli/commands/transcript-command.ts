import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { AppError, hasCode } from '#domain/error.ts'
import type { RunView } from '#schemas/run-schema.ts'
import type { ApiClient } from '../api-client.ts'
import type { CliContext } from '../cli-context.ts'
import { requireWritable, writeWhole } from '../run/output-file.ts'
import { withRuns } from '../run/reach-service.ts'
import { findOperation } from '../run/find-operation.ts'
import { openPaint, paintMarkdown, visible } from '../terminal-text.ts'

type TranscriptOptions = { format: 'markdown' | 'json'; json?: true; out?: string }

export function addTranscriptCommand(program: Command, context: CliContext): void {
  program
    .command('transcript')
    .description('print the whole conversation of one operation: prompts, replies, tool calls, times, tokens, errors')
    .argument('<run>', 'run id')
    .argument('<operation...>', 'operation id, or [AGENT] PATH [NAME] as "remora show" prints it')
    .addOption(new Option('--format <format>', 'how to print').choices(['markdown', 'json']).default('markdown'))
    .option('--json', 'the same as --format json')
    .option('-o, --out <file>', 'write it to a file instead')
    .action(async (runId: string, operation: string[], { json, out, ...given }: TranscriptOptions) => {
      const format = json ? 'json' : given.format
      const path = out === undefined ? undefined : resolve(context.cwd, out)
      if (path !== undefined) await requireWritable(path)
      await withRuns(context, async ({ client }) => {
        const { text, of } = await readTranscript(client, { runId, operation, format })
        if (of !== runId) context.io.err(`of run ${of}, which run ${runId} retries\n`)
        const shown = format === 'json' ? `${text}\n` : visible(text)
        if (path !== undefined) await writeWhole(path, [shown])
        else context.io.out(format === 'json' ? shown : paintMarkdown(shown, openPaint(context.colored)))
      })
    })
}

type Wanted = { runId: string; operation: readonly string[]; format: 'markdown' | 'json' }

/** Reads the transcript of the newest run of the chain that has one. RUN_004 when none has. */
async function readTranscript(
  client: ApiClient,
  { runId, operation, format }: Wanted,
): Promise<{ text: string; of: string }> {
  let missing: AppError | undefined
  let unreadable: AppError | undefined
  for (let of: string | undefined = runId; of !== undefined;) {
    let id: string | undefined
    try {
      id = await findOperation(client, of, operation)
      return { text: await client.readTranscript(of, id, format), of }
    } catch (error) {
      if (!hasCode(error, 'RUN_004')) throw error
      if (id === undefined) missing ??= error
      else unreadable ??= error
    }
    const run: RunView = await client.getRun(of)
    of = run.request.retry_of
  }
  throw unreadable ?? missing ?? new AppError('RUN_004', `run ${runId} has no such operation`)
}
