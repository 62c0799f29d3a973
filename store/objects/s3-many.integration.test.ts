import { describe, expect, it } from 'vitest'
import { testObjects } from '#testing/s3.ts'
import { useOpened } from '#testing/use-opened.ts'
import { mapBounded } from '#platform/map-bounded.ts'

const test = useOpened(testObjects)

const listed = async (prefix: string) => Array.fromAsync(test.objects.list(prefix))

describe('the S3 object store', () => {
  it('lists and deletes more objects than go into one request', async () => {
    const prefix = `projects/${test.project}/blobs/`
    const keys = Array.from({ length: 1_050 }, (_, at) => `${prefix}${String(at).padStart(5, '0')}`)
    const started = Date.now()
    await mapBounded(keys, 32, (key) => test.objects.put(key, 'four'))
    await test.objects.put(`projects/${test.project}/trees/other`, '')
    const found = await listed(prefix)
    expect(found.map(({ key }) => key)).toEqual(keys)
    expect(new Set(found.map(({ bytes }) => bytes))).toEqual(new Set([4]))
    // S3 gives whole seconds.
    for (const { lastModified } of found) expect(lastModified).toBeGreaterThanOrEqual(started - 1_000)

    await test.objects.deleteMany([...keys.slice(1), `${prefix}never-there`])
    expect((await listed(prefix)).map(({ key }) => key)).toEqual(keys.slice(0, 1))
    expect(await listed(`projects/${test.project}/trees/`)).toHaveLength(1)
  }, 30_000)

  it('tells the time of the last put, not of the first', async () => {
    const key = `projects/${test.project}/blobs/again`
    await test.objects.put(key, 'x')
    const [first] = await listed(key)
    await test.objects.put(key, 'x')
    const [second] = await listed(key)
    expect(second?.lastModified).toBeGreaterThanOrEqual(first?.lastModified ?? Infinity)
  })

  it('answers nothing for a prefix nothing has', async () => {
    expect(await listed(`projects/${test.project}/nothing/`)).toEqual([])
    await test.objects.deleteMany([])
  })
})
