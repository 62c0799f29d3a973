import { expect, it } from 'vitest'
import { aNewRun, testLedger } from '#testing/open-test-ledger.ts'
import { unlessDeadly } from './run-stage.ts'

it('fails a run whose stage has cost five processes, instead of losing a sixth', async () => {
  const { ledger, close } = await testLedger()
  const run = aNewRun()
  await ledger.createRun(run)
  const origin = { kind: 'discovery', id: 'test' } as const
  const stage = { phases: ['snapshot'], origin, signal: new AbortController().signal } as const
  let worked = 0
  const work = async () => void (worked += 1)
  await unlessDeadly(run.runId, { ...stage, stalls: 4 }, ledger, work)
  expect(worked).toBe(1)
  await unlessDeadly(run.runId, { ...stage, stalls: 5 }, ledger, work)
  expect(worked).toBe(1)
  expect(await ledger.getRun(run.runId)).toMatchObject({ status: 'failed', errorCode: 'TOOL_004', phase: 'snapshot' })
  await close()
})
