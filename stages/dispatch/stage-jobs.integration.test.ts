import { afterAll, beforeAll, expect, it } from 'vitest'
import { newToken } from '#domain/ids.ts'
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
