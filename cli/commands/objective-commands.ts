import type { Command } from 'commander'
import { AppError, isErrorCode } from '#domain/error.ts'
import { OperationId } from '#domain/ids.ts'
import type { AgendaItemView, RunAgenda } from '#schemas/agenda-schema.ts'
import { delay } from '#platform/clock.ts'
import type { ApiClient } from '../api-client.ts'
import type { CliContext } from '../cli-context.ts'
import { answerLines } from '../progress/answer-lines.ts'
import { describeAgenda, describeWhy, type Reasons, shownOfHash } from '../run/describe-agenda.ts'
import { type Service, withRuns } from '../run/reach-service.ts'
import { reportView } from '../run/report-run.ts'
import { wrap } from '../terminal-text.ts'

type Json = { json?: true }

const jsonOption = ['--json', 'print one JSON document'] as const

const laterLine = (runId: string) => `Nothing works on it now. To continue the run: remora run --resume ${runId}\n`

/** `remora say RUN TEXT…` */
export function addSayCommand(command: Command, context: CliContext): void {
  command
    .argument('<run>', 'run id')
    .argument('<text...>', 'what its conductor is to know, or to do as well')
    .option(...jsonOption)
    .action(async (runId: string, words: string[], { json }: Json) =>
      withRuns(context, async ({ client, isIdle }) => {
        const sent = await client.say(runId, words.join(' '))
        const later = isIdle ? laterLine(runId) : ''
        context.io.out(json ? `${JSON.stringify(sent)}\n` : `${runId}: sent, to be read at the next step\n${later}`)
      }),
    )
}

const askAgainMs = 500
/** After so long without a conductor the person is told, and after so long the command gives up. */
const untakenMs = { told: 10_000, most: 120_000 }

/** Waits for the answer. POLICY_001 where no conductor has had it for two minutes: one that has may wait for its model much longer. */
async function answerOf({ client, signal }: Service, asked: { runId: string; text: string }, { io }: CliContext) {
  const { ask_id: askId } = await client.ask(asked.runId, asked.text)
  let takenAt = performance.now()
  for (let isTold = false; ;) {
    const ask = await client.readAsk(asked.runId, askId)
    if (ask.status === 'answered' || ask.status === 'failed') return ask
    if (ask.status === 'taken') takenAt = performance.now()
    const untaken = performance.now() - takenAt
    if (untaken > untakenMs.most) throw new AppError('POLICY_001', 'no conductor has taken it: is one running?')
    if (untaken > untakenMs.told && !isTold) {
      isTold = true
      io.err('no conductor has taken it yet\n')
    }
    await delay(askAgainMs, signal)
  }
}

/** `remora ask RUN TEXT…`: where nothing runs, a stack is started for the answer. */
export function addAskCommand(command: Command, context: CliContext): void {
  command
    .argument('<run>', 'run id')
    .argument('<text...>', 'what you want to know of it')
    .option(...jsonOption)
    .action(async (runId: string, words: string[], { json }: Json) => {
      const asked = { runId, text: words.join(' ') }
      const ask = await withRuns(context, (service) => answerOf(service, asked, context), { workers: 1, isSmall: true })
      if (json) context.io.out(`${JSON.stringify({ run_id: runId, ...ask })}\n`)
      else if (ask.answer !== null) {
        const { width } = reportView(context)
        context.io.out(
          `${answerLines(ask.answer)
            .flatMap((line) => wrap(line, width))
            .join('\n')}\n`,
        )
      }
      if (ask.status !== 'failed') return
      const code = isErrorCode(ask.error_code) ? ask.error_code : 'POLICY_001'
      throw new AppError(code, `not answered: ${ask.reason}`)
    })
}

/** `remora approve RUN [HASH]`: without the hash of a plan that was looked at, the plan is shown and approved. */
export function addApproveCommand(command: Command, context: CliContext): void {
  command
    .argument('<run>', 'run id')
    .argument(
      '[hash]',
      'approve only this plan, as "remora show RUN --plan" names it; without it, the plan as it is now',
    )
    .option(...jsonOption)
    .action(async (runId: string, given: string | undefined, { json }: Json) =>
      withRuns(context, async ({ client, isIdle }) => {
        const agenda = await client.readAgenda(runId)
        const present = agenda.approval?.plan_hash
        const isMeant = given !== undefined && given.length >= shownOfHash && present?.startsWith(given) === true
        const hash = given === undefined || isMeant ? present : given
        if (hash === undefined) throw new AppError('RUN_011', `run ${runId} has no plan that waits for approval`)
        if (!json) context.io.out(`${describeAgenda(agenda, reportView(context))}\n`)
        const sent = await client.approve(runId, hash)
        const later = isIdle ? laterLine(runId) : ''
        context.io.out(
          json
            ? `${JSON.stringify({ ...sent, plan_hash: hash })}\n`
            : `approved: plan ${hash.slice(0, shownOfHash)}\n${later}`,
        )
      }),
    )
}

/** `remora why RUN [ITEM|OPERATION]` */
export function addWhyCommand(command: Command, context: CliContext): void {
  command
    .argument('<run>', 'run id')
    .argument('[item]', 'an item of its plan, or one of its operations; without it, all decisions')
    .option(...jsonOption)
    .action(async (runId: string, named: string | undefined, { json }: Json) =>
      withRuns(context, async ({ client }) => {
        const agenda = await client.readAgenda(runId)
        const reasons = named === undefined ? agenda : await reasonsOf(agenda, named, client)
        const { item, decisions, told }: Reasons = reasons
        const document = { run_id: runId, item, decisions, told }
        context.io.out(json ? `${JSON.stringify(document)}\n` : describeWhy(reasons, reportView(context)))
      }),
    )
}

type Asked = Pick<ApiClient, 'getOperation' | 'readDecision'>

/** RUN_004 for what is neither an item of the plan nor an operation of one. */
async function reasonsOf(agenda: RunAgenda, named: string, client: Asked): Promise<Reasons> {
  const item = await findItem(agenda, named, client)
  const decisions = agenda.decisions.filter(({ item_ids: ids }) => ids.includes(item.item_id))
  const { decided_in: seq } = item
  return { item, decisions, told: seq === null ? undefined : await client.readDecision(agenda.run_id, seq) }
}

async function findItem(agenda: RunAgenda, named: string, client: Asked): Promise<AgendaItemView> {
  const { run_id: runId, items } = agenda
  const isOperation = OperationId.safeParse(named).success
  const itemId = isOperation ? (await client.getOperation(runId, named)).item_id : named
  const item = items.find(({ item_id: id }) => id === itemId)
  if (item !== undefined) return item
  const known = items.map(({ item_id: id }) => id).join(', ')
  const message = `Run "${runId}" has no item "${named}"; its items: ${known === '' ? 'none yet' : known}`
  throw new AppError('RUN_004', message, { advised: true })
}
