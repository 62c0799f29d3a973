import { expect, it } from 'vitest'
import { openRetention } from '#store/ledger/retention.ts'
import { until } from '#testing/until.ts'
import { composeRun, playRun, submitRun } from '../../services/api/played-run.fixture.ts'
import { useServedApi } from './served-api.fixture.ts'

const served = useServedApi()

it('says that the run is deleted when nothing of it is left, not before', async () => {
  const { project: projectId, redis, namespace } = served.api
  const retention = openRetention(redis, namespace)
  const runId = await playRun(served.api, [])
  await composeRun(served.api, runId, { files: [] })
  const printed = { out: '', err: '', code: 0 }
  const ended = served.remoraWith({ printed }, 'delete', runId)
  const [run] = await until(() => retention.runsBeingDeleted(), { holds: ({ length }) => length > 0 })
  expect([run?.runId, printed.out]).toEqual([runId, ''])
  await retention.forgetRun({ runId, projectId })
  await retention.endDeletion({ runId, projectId })
  expect(await ended).toMatchObject({ out: `${runId}: deleted\n`, err: '' })
})

it('refuses a run that goes on', async () => {
  await expect(served.remora('delete', await submitRun(served.api))).rejects.toMatchObject({ code: 'RUN_006' })
})
