import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { indexKeys } from '#store/ledger/keys.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { openS3ObjectStore } from '#store/objects/s3-object-store.ts'
import { verifyRun, type ProofDeps } from '#stages/audit/verify-run.ts'
import { runDamages } from './run-damages.fixture.ts'
import { openTamperedRun, type TamperedRun } from './tampered-run.fixture.ts'

let ended: TamperedRun
beforeAll(async () => {
  ended = await openTamperedRun()
})
afterEach(() => ended.restore())
afterAll(() => ended.close())

const verify = (deps: Partial<ProofDeps> = {}) => {
  const { bench, queues, run } = ended
  return verifyRun(run.runId, { ledger: bench.ledger, objects: bench.deps.objects, queues, momentMs: 0, ...deps })
}

describe('remora verify', () => {
  it('finds nothing wrong with a run that the worker worked on', async () => {
    const statuses = ['succeeded', 'failed', 'succeeded', 'skipped', 'succeeded']
    expect(ended.operations.map(({ outcome }) => outcome?.status)).toEqual(statuses)
    expect(await verify()).toEqual({ ended: true, violations: [], events: ended.run.seq, operations: 5 })
  })

  it.each(runDamages)('says that $what (invariant $invariant), and nothing else', async ({ damage, ...due }) => {
    await damage(ended)
    const { violations } = await verify()
    for (const { message } of violations) expect(message).toMatch(due.says)
    expect(violations.map(({ invariant }) => invariant)).toEqual(Array(due.lines ?? 1).fill(due.invariant))
  })

  it('looks again for a moment at what is being removed', async () => {
    const { bench, run } = ended
    await bench.redis.zadd(indexKeys(bench.namespace).active, 1, `${run.projectId}/${run.runId}`)
    const looks: string[][] = []
    const ledger: Ledger = {
      ...bench.ledger,
      async leftovers(of) {
        const left = await bench.ledger.leftovers(of)
        looks.push(left)
        await bench.ledger.deactivate(run)
        return left
      },
    }
    expect((await verify({ ledger, momentMs: 2_000 })).violations).toEqual([])
    expect(looks).toEqual([['the run in the index of active runs'], []])
  })

  it('proves nothing about objects while their store is unreachable', async () => {
    const place = { bucket: 'remora', region: 'us-east-1', endpoint: 'http://127.0.0.1:1' }
    const objects = openS3ObjectStore({ ...place, credentials: { accessKeyId: 'a', secretAccessKey: 'b' } })
    await expect(verify({ objects })).rejects.toMatchObject({ code: 'STORE_002' })
    objects.close()
  })
})
