import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { gzippedTar, type TarItem } from '#platform/gzipped-tar.ts'
import { fetchChanges } from './fetch-changes.ts'
import { useFreshFolder } from '../fresh-folder.fixture.ts'

let scratch = ''
useFreshFolder((path) => (scratch = path))

type Answer = { composition: string; items: TarItem[] } | undefined

const item = (path: string, text: string): TarItem => ({ path, content: Buffer.from(text), executable: false })

/** A service that gives these answers one after the other, the last one again and again. */
function answering(...answers: Answer[]) {
  const asked: string[] = []
  return {
    asked,
    async readChangedFiles(_runId: string, { side }: { side: string }) {
      const answer = answers[Math.min(asked.length, answers.length - 1)]
      asked.push(side)
      if (answer === undefined) return undefined
      return { composition: answer.composition, body: gzippedTar(itemsOf(answer.items)) }
    },
  }
}

async function* itemsOf(items: TarItem[]) {
  yield* items
}

const wanted = () => ({ runId: 'r1', of: 'accepted' as const, scratch })

describe('what a run has changed', () => {
  it('is of the same decisions on both sides, also when somebody decides in between', async () => {
    const client = answering(
      { composition: 'one', items: [item('a.py', 'a after')] },
      { composition: 'two', items: [item('a.py', 'a'), item('b.py', 'b')] },
      { composition: 'two', items: [item('a.py', 'a after'), item('b.py', 'b after')] },
      { composition: 'two', items: [item('a.py', 'a'), item('b.py', 'b')] },
    )
    const changes = await fetchChanges(client, wanted())
    expect(client.asked).toEqual(['after', 'before', 'after', 'before'])
    expect(changes.map(({ path }) => path)).toEqual(['a.py', 'b.py'])
    expect(await readFile(changes[1]?.after ?? '', 'utf8')).toBe('b after')
  })

  it('is nothing where nothing was accepted, and not awaited for ever', async () => {
    expect(await fetchChanges(answering(undefined), wanted())).toEqual([])
    const client = answering({ composition: 'one', items: [] }, undefined, { composition: 'two', items: [] }, undefined)
    expect(await fetchChanges(client, wanted())).toEqual([])
    const restless = {
      readChangedFiles: async (_: string, { side }: { side: string }) =>
        answering({ composition: side, items: [] }).readChangedFiles('', { side }),
    }
    await expect(fetchChanges(restless, wanted())).rejects.toMatchObject({ code: 'RUN_006' })
  })

  it.for<[string, TarItem[]]>([
    ['a link', [{ path: 'a.py', target: '/etc/passwd' }]],
    ['a path twice', [item('a.py', '1'), item('a.py', '2')]],
    ['a path that leads out', [item('a/../../b.py', '1')]],
    ['a path into the history', [item('a/.g\u200cit/config', '1')]],
  ])('is refused with %s', async ([, items]) => {
    const client = answering({ composition: 'one', items })
    await expect(fetchChanges(client, wanted())).rejects.toMatchObject({ code: 'INTAKE_002' })
    expect((await readdir(scratch)).filter((name) => !name.startsWith('after-'))).toEqual([])
  })

  it('is refused when the answer breaks off', async () => {
    const whole = Buffer.concat(await Array.fromAsync(gzippedTar(itemsOf([item('a.py', 'x'.repeat(10_000))]))))
    const readChangedFiles = async () => ({
      composition: 'one',
      body: ReadableStream.from([whole.subarray(0, whole.length - 20)]),
    })
    await expect(fetchChanges({ readChangedFiles }, wanted())).rejects.toMatchObject({ code: 'INTAKE_001' })
  })
})
