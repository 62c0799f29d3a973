import type { Command } from 'commander'
import { AppError } from '#domain/error.ts'
import type { QuestionView } from '#schemas/question-schema.ts'
import type { ApiClient } from '../api-client.ts'
import { allQuestions } from '../api-lists.ts'
import type { CliContext } from '../cli-context.ts'
import { describeQuestion } from '../progress/describe-question.ts'
import { isIdle, withRuns } from '../run/reach-service.ts'
import { visible } from '../terminal-text.ts'

type AnswerOptions = { all?: true; json?: true }

/** `remora answer RUN [REQUEST] [TEXT]`: lists the questions of a run's agents, shows one, or answers it. */
export function addAnswerCommand(program: Command, context: CliContext): void {
  program
    .command('answer')
    .description('list what the agents of a run ask, or answer it')
    .argument('<run>', 'run id')
    .argument('[request]', 'the question, q1 and so on; without it, the open ones are listed')
    .argument('[text...]', 'the answer; without it, the question is shown')
    .option('--all', 'list the answered and expired ones as well')
    .option('--json', 'print one JSON document')
    .action(async (runId: string, request: string | undefined, words: string[], options: AnswerOptions) => {
      const text = words.length === 0 ? undefined : words.join(' ')
      await withRuns(context, async (service) => {
        const { client } = service
        if (request === undefined) return list(runId, client, options, context)
        const question =
          text === undefined ? await find(runId, request, client) : await client.answer(runId, request, text)
        const isLeft = text !== undefined && isIdle(service)
        const next = isLeft ? `To continue the run with this answer: remora run --resume ${runId}\n` : ''
        const shown = `${describeQuestion(runId, question)}\n${next}`
        context.io.out(options.json ? `${JSON.stringify(question)}\n` : visible(shown))
      })
    })
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
