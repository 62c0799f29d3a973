import { type Command, Option } from 'commander'
import { AppError, hasCode } from '#domain/error.ts'
import type { ApprovalAnswer } from '#domain/question.ts'
import type { QuestionView } from '#schemas/question-schema.ts'
import type { ApiClient } from '../api-client.ts'
import { allQuestions } from '../api-lists.ts'
import type { CliContext } from '../cli-context.ts'
import { describeQuestion } from '../progress/describe-question.ts'
import { type Service, withRuns } from '../run/reach-service.ts'
import { visible } from '../terminal-text.ts'
import { isEnded } from '#domain/run.ts'
import type { RunView } from '#schemas/run-schema.ts'
import { followRun } from '../run/follow-run.ts'
import { budgetText } from '../run/describe-run.ts'
import { tokenCount } from './shared-options.ts'
import { after, delay } from '#platform/clock.ts'

type AnswerOptions = { all?: true; json?: true; allow?: true; allowForRun?: true; deny?: true }

export function addAnswerCommand(command: Command, context: CliContext): void {
  command
    .argument('<run>', 'run id')
    .argument('[request]', 'the question, q1 and so on; without it, the open ones are listed')
    .argument('[text...]', 'the answer, or why a call is denied; without it, the question is shown')
    .option('--allow', 'let the call be made that waits for approval')
    .addOption(new Option('--allow-for-run', 'and all calls of this tool by this agent in the run').conflicts('allow'))
    .addOption(new Option('--deny', 'do not let it be made').conflicts(['allow', 'allowForRun']))
    .option('--all', 'list the answered and expired ones as well')
    .option('--json', 'print one JSON document')
    .action(async (runId: string, request: string | undefined, words: string[], options: AnswerOptions) => {
      const answer = answerOf(words.join(' '), options)
      if (request === undefined && answer !== undefined)
        command.error('error: name the question that is answered', { exitCode: 2 })
      await withRuns(context, async (service) => {
        const { client } = service
        if (request === undefined) return list(runId, client, options, context)
        const question =
          answer === undefined ? await find(runId, request, client) : await client.answer(runId, request, answer)
        const needsStack = answer !== undefined && service.isIdle
        const next = needsStack ? `To continue the run with this answer: remora run --resume ${runId}\n` : ''
        const shown = `${describeQuestion(runId, question)}\n${next}`
        context.io.out(options.json ? `${JSON.stringify(question)}\n` : visible(shown))
      })
    })
}

function answerOf(text: string, { allow, allowForRun, deny }: AnswerOptions): string | ApprovalAnswer | undefined {
  const verdict = (allow && 'allow') ?? (allowForRun && 'allow_for_run') ?? (deny && 'deny')
  if (verdict === undefined) return text === '' ? undefined : text
  return text === '' ? { verdict } : { verdict, reason: text }
}

async function list(
  runId: string,
  client: ApiClient,
  { all, json }: AnswerOptions,
  { io }: Pick<CliContext, 'io'>,
): Promise<void> {
  const questions = await Array.fromAsync(allQuestions(client, runId, all ? undefined : 'open'))
  if (json) return io.out(`${JSON.stringify({ questions })}\n`)
  if (questions.length === 0) return io.out(`${runId}: no ${all ? '' : 'open '}questions\n`)
  io.out(visible(`${questions.map((question) => describeQuestion(runId, question)).join('\n')}\n`))
}

async function find(runId: string, request: string, client: ApiClient): Promise<QuestionView> {
  for await (const question of allQuestions(client, runId)) if (question.request_id === request) return question
  throw new AppError('ASK_001', `Run "${runId}" has no question "${request}".`)
}

export function addCancelCommand(command: Command, context: CliContext): void {
  command
    .argument('<run>', 'run id')
    .option('--reason <text>', 'why, for those who look at the run later')
    .option('--json', 'print one JSON document')
    .action(async (runId: string, { reason, json }: { reason?: string; json?: true }) => {
      const cancel = async ({ client, signal }: Service) => {
        await client.cancel(runId, reason)
        return ended(runId, client, signal)
      }
      const run = await withRuns(context, cancel, { workers: 0 })
      context.io.out(json ? `${JSON.stringify(run)}\n` : `${runId}: ${run.status}, ${countsOf(run)}\n`)
      if (run.status !== 'cancelled') context.io.exit(1)
    })
}

async function ended(runId: string, client: ApiClient, signal: AbortSignal): Promise<RunView> {
  const run = await client.getRun(runId)
  if (isEnded(run.status)) return run
  await followRun(runId, { onEvent: () => {} }, { client, signal, after: run.seq })
  return client.getRun(runId)
}

function countsOf({ counts }: RunView): string {
  const parts = Object.entries(counts).flatMap(([status, count]) => (count > 0 ? [`${count} ${status}`] : []))
  return parts.length === 0 ? 'no operation was planned' : parts.join(', ')
}

type BudgetOptions = { tokens?: number; unlimited?: true; json?: true }

export function addBudgetCommand(command: Command, context: CliContext): void {
  command
    .argument('<run>', 'run id')
    .option('--tokens <count>', 'so many in all, with what it has used already', tokenCount)
    .addOption(new Option('--unlimited', 'any number').conflicts('tokens'))
    .option('--json', 'print one JSON document')
    .action(async (runId: string, { tokens, unlimited, json }: BudgetOptions) => {
      const budget = await withRuns(context, async ({ client }) => {
        if (tokens === undefined && !unlimited) return (await client.getRun(runId)).budget
        return client.setBudget(runId, tokens ?? null)
      })
      const shown = budget ?? { tokens: null, used: 0, used_by_agents: 0 }
      const isUsedUp = tokens !== undefined && shown.used >= tokens
      const more = isUsedUp ? ': it is used up, and what needs a model waits for more' : ''
      context.io.out(
        json ? `${JSON.stringify({ run_id: runId, ...shown })}\n` : `${runId}: ${budgetText(shown)}${more}\n`,
      )
    })
}

const askEveryMs = 300
const patienceMs = 8_000
const waitingLine =
  'still deleting: files that it may share with others go when no other run of the project is being taken in, planned or composed (the service goes on without this command)\n'

export function addDeleteCommand(command: Command, context: CliContext): void {
  command
    .argument('<run>', 'run id')
    .option('--json', 'print one JSON document')
    .action(async (runId: string, { json }: { json?: true }) => {
      const remove = async ({ client, signal }: Service) => {
        await client.deleteRun(runId)
        const cancelLine = after(patienceMs, () => context.io.err(waitingLine))
        try {
          while (await isLeft(() => client.deleteRun(runId))) await delay(askEveryMs, signal)
        } finally {
          cancelLine()
        }
      }
      await withRuns(context, remove, { workers: 0 })
      context.io.out(json ? `${JSON.stringify({ run_id: runId, deleted: true })}\n` : `${runId}: deleted\n`)
    })
}

async function isLeft(askAgain: () => Promise<void>): Promise<boolean> {
  try {
    await askAgain()
    return true
  } catch (error) {
    if (hasCode(error, 'RUN_001')) return false
    throw error
  }
}
