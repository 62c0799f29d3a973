import { expect, it } from 'vitest'
import { aPlannedOperation, endRun, testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'

const test = useOpened(testLedger)
const root = aPlannedOperation('root')

it('the result of a run is had once in each generation, by one of two that ask at the same time', async () => {
  const runId = await test.executing([root])
  const take = (command: string) => test.ledger.takeResult(runId, { command, by: `human/${command}` })
  expect(await take('early')).toEqual({ kind: 'open' })
  await test.settleAll(runId)
  await test.ledger.dispatch(runId, 1)
  await endRun(test.ledger, runId)
  const [one, other] = await Promise.all([take('one'), take('other')])
  expect([one.kind, other.kind].toSorted()).toEqual(['consumed', 'taken'])
  const { by, at } = one.kind === 'taken' ? one : other.kind === 'taken' ? other : { by: '', at: 0 }
  expect(await take('late')).toEqual({ kind: 'consumed', by, at })
  expect(await take(by.replace('human/', ''))).toEqual({ kind: 'taken', by, at })
  const wanted = { operations: [root.operationId] }
  const how = { wanted, origin: { kind: 'human', id: 'test' }, command: 'again' } as const
  await test.ledger.reopen(await test.ledger.getRun(runId), how)
  expect(await take('late')).toEqual({ kind: 'open' })
  await expect(test.ledger.takeResult('r00000001', { command: 'c', by: 'b' })).rejects.toMatchObject({
    code: 'RUN_001',
  })
})
