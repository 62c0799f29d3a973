import { hash } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import { aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { openResendProxy, type ResendProxy } from '#testing/resend-proxy.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openLedger } from './ledger.ts'
import type { Client, PreparedCommand, ResendCase } from './resend-case.fixture.ts'
import { agendaCases } from './resend-agenda-cases.fixture.ts'
import { operationCases } from './resend-operation-cases.fixture.ts'
import { runCases } from './resend-run-cases.fixture.ts'
import { runState, withoutTimes } from './run-state.fixture.ts'
import { scriptSources } from './script-sources.fixture.ts'

const resendCases: readonly ResendCase[] = [...runCases, ...operationCases, ...agendaCases]

let proxy: ResendProxy
let connection: Redis
/** A client whose answers the proxy drops on demand. */
let cutOff: Client
const test = useOpened(testLedger)
beforeAll(async () => {
  proxy = await openResendProxy(test.redisUrl)
  connection = new Redis(proxy.url, { retryStrategy: () => 1 })
  const { namespace } = test
  cutOff = { ledger: openLedger(connection, { namespace }), redis: connection, namespace }
})
afterAll(async () => {
  await connection.quit()
  await proxy.close()
})

const sources = scriptSources()

function shasOf(script: string): string[] {
  return (sources.get(script) ?? []).map((source) => hash('sha1', source, 'hex'))
}

const stateOf = (runId: RunId) => runState(test.redis, test.namespace, runId)
const commonStateOf = async (runId: RunId) => withoutTimes(await stateOf(runId), runId)

function timesIn(commands: readonly string[][], command: readonly string[] = []): number {
  return commands.filter((other) => other.join(' ') === command.join(' ')).length
}

describe('a command whose answer was lost and that is sent again', () => {
  it.each(resendCases)('$script $what gives its answer again and changes nothing', async ({ prepare }) => {
    const command = await prepare(test)
    const before = await stateOf(command.runId)
    const answer = await command.send(test)
    const after = await stateOf(command.runId)
    expect(after).not.toEqual(before)
    expect(await command.send(test)).toEqual('again' in command ? command.again : answer)
    expect(await stateOf(command.runId)).toEqual(after)
  })

  it('works on a server that has forgotten the scripts', async () => {
    const runId = await test.executing([aPlannedOperation('root')])
    await test.redis.script('FLUSH')
    expect((await test.ledger.dispatch(runId, 1)).taken).toHaveLength(1)
  })
})

/** The command without a lost answer: what it sends, its answer, and the state it leaves. */
async function undisturbed({ prepare }: ResendCase) {
  const twin = await prepare(test)
  // First over the direct connection, so that Redis knows the scripts.
  const answer = withoutTimes(await twin.send(test), twin.runId)
  const watched = await prepare(test)
  const { commands } = proxy.watch()
  await watched.send(cutOff)
  return { answer, state: await commonStateOf(twin.runId), commands: [...commands] }
}

/**
 * The client itself resends commands without an answer, but not the rest of a transaction that was answered in part:
 * that fails, and its caller repeats it.
 */
async function sendPatiently(command: PreparedCommand): Promise<{ answer: unknown; isRepeated: boolean }> {
  try {
    return { answer: await command.send(cutOff), isRepeated: false }
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'STORE_001')) throw error
    return { answer: await command.send(cutOff), isRepeated: true }
  }
}

describe('a client whose connection is cut after Redis has answered', () => {
  it.each([...sources.keys()])('has a case here for the script %s', (script) => {
    expect(resendCases.map((one) => one.script)).toContain(script)
  })

  it.each(resendCases)('$script $what is carried out once, whichever answer was lost', async (one) => {
    const expected = await undisturbed(one)
    const shas = shasOf(one.script)
    const isScript = (command: readonly string[] = []) => shas.includes(command[1] ?? '')
    expect(expected.commands.some(isScript)).toBe(true)
    for (const [place, sent] of expected.commands.entries()) {
      const command = await one.prepare(test)
      const watch = proxy.watch({ cutAt: place })
      const { answer, isRepeated } = await sendPatiently(command)
      const known = 'again' in command && (isScript(sent) || isRepeated)
      expect(withoutTimes(answer, command.runId)).toEqual(
        known ? withoutTimes(command.again, command.runId) : expected.answer,
      )
      expect(watch.cuts).toBe(1)
      const cameTwice = timesIn(watch.commands, watch.commands[place]) > timesIn(expected.commands, sent)
      expect(cameTwice || isRepeated).toBe(true)
      expect(await commonStateOf(command.runId)).toEqual(expected.state)
    }
  })
})
