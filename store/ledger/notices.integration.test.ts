import { expect, it } from 'vitest'
import { silentLog } from '#platform/log.ts'
import { aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openNotices } from './notices.ts'

const test = useOpened(testLedger)

it('each command that writes events wakes once who follows its run, or all runs, and a lost connection wakes all', async () => {
  const { redis, namespace, redisUrl, ledger } = test
  const followed = await test.executing([aPlannedOperation('a')])
  const notices = openNotices({ redisUrl, namespace, log: silentLog })
  const [own, all]: [number[], string[]] = [[], []]
  notices.on('all', (notice) => void all.push(notice?.runId ?? 'missed'))
  await until(() => all, { holds: (runs) => runs[0] === 'missed' }) // what there was before it hears the first
  let missed = 0
  const off = notices.on(followed, (notice) => (notice === undefined ? (missed += 1) : own.push(notice.seq)))
  const { seq } = await ledger.getRun(followed)
  await ledger.cancel(followed, { reason: 'enough', origin: { kind: 'api', id: 'test' } }) // writes no event
  await ledger.endSlice(followed, 0)
  const other = await test.executing([])
  await until(() => all, { holds: (runs) => runs.filter((runId) => runId === other).length === 3 })
  expect(own).toEqual([seq + 1])
  await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
  await until(() => missed, { holds: (times) => times > 0 })
  off()
  expect(all.slice(-2)).toEqual([other, 'missed'])
  notices.close()
})
