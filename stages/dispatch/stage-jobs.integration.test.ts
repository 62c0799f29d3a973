import { afterAll, beforeAll, expect, it } from 'vitest'
import { newToken } from '#domain/ids.ts'
import { conductedRun, takeStep } from '#testing/conducted-run.ts'
import { anEvent, aNewRun, aRequest, endRun, testLedger, type TestLedger } from '#testing/open-test-ledger.ts'
import { openDispatcher } from './dispatcher.fixture.ts'
import { dispatchReady } from './run-dispatcher.ts'
import { openStageJobs } from './stage-jobs.ts'

let test: TestLedger
beforeAll(async () => {
  test = await testLedger()
})
afterAll(() => test.close())

const repository = {
  host: 'github',
  installationId: 1,
  repository: { id: 1, owner: 'acme', name: 'shop' },
  ref: 'refs/heads/main',
  branch: 'main',
  isFork: false,
} as const

it.each([
  ['of a code host, which the publisher looks at again', { repository }, ['discoveries', 'publications']],
  ['that was uploaded', {}, ['discoveries']],
])('a run %s, goes on after whoever reopened it has died', async (_, source, expected) => {
  const { ledger } = test
  const run = aNewRun({ request: aRequest(source) })
  const { runId } = run
  await ledger.createRun(run)
  const to = { status: 'running', phase: 'planning' } as const
  const events = [anEvent({ event: 'run.started', phase: 'planning' })]
  await ledger.move(runId, { from: [{ status: 'queued' }], to, command: 'start', set: { snapshotId: 's1' }, events })
  await endRun(ledger, runId, 'failed')
  const origin = { kind: 'api', id: 'q1' } as const
  await ledger.reopen(await ledger.getRun(runId), { wanted: {}, origin, command: newToken() })
  const added: string[] = []
  const producer = { add: async (queue: string, id: string) => void (id === runId && added.push(queue)) }
  await dispatchReady({ ...openDispatcher(test).deps, stageJobs: openStageJobs(producer) })
  expect(added).toEqual(expected)
})

it('a run whose model is away has its next step no sooner, and has waited no shorter, for what is said meanwhile', async () => {
  const { ledger } = test
  const runId = await conductedRun(ledger)
  const added: string[] = []
  const jobs = openStageJobs({ add: async (queue) => void added.push(queue) })
  const wait = async () => {
    await takeStep(ledger, runId, { waits: { kind: 'models', model: 'm' }, consumed: 0 })
    const run = await ledger.getRun(runId)
    await jobs.ensure(run)
    return run.conductor?.kind === 'open' ? run.conductor : undefined
  }
  const before = await wait()
  const message = { kind: 'said', text: 'and be quick', by: 'me' } as const
  await ledger.sendToConductor(runId, message, { command: 'a', origin: { kind: 'api', id: 'q1' } })
  await jobs.ensure(await ledger.getRun(runId))
  expect(await wait()).toMatchObject({ version: 2, messages: 1, waits: before?.waits })
  expect(added).toEqual(['conductor'])
  expect((await ledger.verify(runId)).violations).toEqual([])
})
