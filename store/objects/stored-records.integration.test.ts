import { describe, expect, it } from 'vitest'
import { testObjects } from '#testing/s3.ts'
import { useOpened } from '#testing/use-opened.ts'
import type { AttemptRecord } from './attempt-record.ts'
import { objectKeys } from './object-keys.ts'
import { getAttemptRecord, getComposition, putAttemptRecord, putComposition } from './stored-records.ts'

const test = useOpened(testObjects)

const record: AttemptRecord = {
  v: 1,
  runId: 'r00000000aaaa',
  operationId: 'o0123456789abcdef',
  attempt: 1,
  bundle: 'lint',
  bundleHash: 'b',
  model: 'rehearsal',
  versions: { node: '24' },
  startedAt: 5,
  messages: [{ role: 'user', content: 'é\u2028' }],
  replies: [{ z: 1, a: [null, 'x'] }],
  exchanges: [],
  tools: [],
  reads: { contents: { 'a.py': 'h' }, listings: {}, absences: ['b.py'] },
  changeSet: null,
  outcome: {
    status: 'unchanged',
    summary: 'nothing to do',
    changedFiles: [],
    turns: 1,
    promptTokens: 2,
    completionTokens: 3,
    durationMs: 4,
  },
}

describe('stored records', () => {
  it('come back as they were, under one hash however often they are stored', async () => {
    const hash = await putAttemptRecord(test.objects, test.project, record)
    expect(await putAttemptRecord(test.objects, test.project, structuredClone(record))).toBe(hash)
    expect(await getAttemptRecord(test.objects, test.project, hash)).toEqual(record)
  })

  it('of compositions belong to their run', async () => {
    const place = { projectId: test.project, runId: 'r00000000aaaa' }
    const composition = { v: 1, runId: 'r00000000aaaa', of: 'proposed', files: [], conflicts: [] } as const
    const hash = await putComposition(test.objects, place, { ...composition, files: [], conflicts: [] })
    expect(await getComposition(test.objects, { ...place, hash })).toEqual(composition)
    const elsewhere = getComposition(test.objects, { projectId: test.project, runId: 'r00000000bbbb', hash })
    await expect(elsewhere).rejects.toMatchObject({ code: 'STORE_003' })
  })

  it('are refused when their bytes are not those of the hash, or not such a record', async () => {
    const hash = await putAttemptRecord(test.objects, test.project, record)
    await test.objects.put(objectKeys.attempt(test.project, hash), JSON.stringify({ ...record, attempt: 2 }))
    const damaged = getAttemptRecord(test.objects, test.project, hash)
    await expect(damaged).rejects.toMatchObject({ code: 'STORE_003' })
  })
})
