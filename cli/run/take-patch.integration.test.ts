import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { beforeEach, describe, expect, it } from 'vitest'
import { gzippedTar } from '#platform/gzipped-tar.ts'
import { lacks } from '#testing/this-machine.ts'
import { aRun } from '../answers.fixture.ts'
import { readCliConfig } from '../cli-config.ts'
import { useFreshFolder } from '../fresh-folder.fixture.ts'
import { takePatch } from './take-patch.ts'

const diff = 'diff --git a/f.txt b/f.txt\n--- a/f.txt\n+++ b/f.txt\n@@ -1 +1 @@\n-old\n+new\n'

async function* oneFile(text: string) {
  yield { path: 'f.txt', content: Buffer.from(text), executable: false }
}

/** A service with a run that makes `new` of `old` in one file. */
const client = {
  readPatch: async () => Readable.from([Buffer.from(diff)]),
  async readChangedFiles(_runId: string, { side }: { side: 'before' | 'after' }) {
    return { composition: 'c1', body: gzippedTar(oneFile(side === 'before' ? 'old\n' : 'new\n')) }
  },
  listChanges: async () => ({ changes: [], next: null }),
}

let dir = ''
useFreshFolder((path) => (dir = path))
beforeEach(async () => {
  await mkdir(join(dir, 'part one'))
  await writeFile(join(dir, 'part one', 'f.txt'), 'old\n')
})

async function take(order: { path?: string; apply?: boolean; isNew?: boolean; accept?: 'auto' }) {
  const { accept, ...given } = order
  const run = aRun()
  const request = { ...run.request, ...(accept && { accept }) }
  const context = { cwd: dir, config: readCliConfig(process.env), signal: new AbortController().signal }
  return takePatch(client, { ...run, request }, { path: 'part one', apply: false, isNew: true, ...given }, context)
}

const content = () => readFile(join(dir, 'part one', 'f.txt'), 'utf8')

describe.skipIf(lacks('git'))('taking the patch of a run', () => {
  it('writes the patch, and says which command applies it to the folder of the run', async () => {
    const runId = aRun().run_id
    const taken = await take({})
    expect(taken).toMatchObject({ path: `remora-${runId}.patch`, applied: false })
    expect(await readFile(join(dir, `remora-${runId}.patch`), 'utf8')).toBe(diff)
    expect(taken?.hint).toBe(`remora apply ${runId} --of proposed --to 'part one'`)
    expect(await content()).toBe('old\n')
    expect((await take({ path: '.', accept: 'auto' }))?.hint).toBe(`remora apply ${runId}`)
    const ofArchive = await take({ path: 'it.tar' })
    expect(ofArchive?.hint).toContain('--of proposed  # in the folder that it.tar unpacks to')
  })

  it('applies it to the folder where that was asked for', async () => {
    expect(await take({ apply: true })).toMatchObject({ applied: true })
    expect(await content()).toBe('new\n')
  })

  it('changes nothing and says why, and where the patch is, when the folder has changed', async () => {
    await writeFile(join(dir, 'part one', 'f.txt'), 'other\n')
    const applied = take({ apply: true })
    await expect(applied).rejects.toMatchObject({ code: 'WORK_002' })
    await expect(applied).rejects.toThrow(`the patch is kept in ${join(dir, 'remora-')}`)
    expect(await content()).toBe('other\n')
  })
})
