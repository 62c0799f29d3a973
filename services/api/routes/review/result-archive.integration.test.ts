import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { lacks } from '#testing/this-machine.ts'
import { composeRun, playRun } from '../../played-run.fixture.ts'
import { archiveOf } from './result-archive.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

const run = promisify(execFile)

const api = useTestApi()

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe('GET /v1/runs/{run_id}/archive', () => {
  /** Every kind of change beside what nobody changes; with bytes that are neither UTF-8 nor end with a newline. */
  const odd = Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff, 0x0d, 0x0a, 0x62])
  const tree = {
    'a.py': { content: 'import os\n', executable: true },
    'lib/gone.py': 'x = 1\n',
    'lib/odd.txt': { content: odd, executable: false },
    'lib/same.sh': { content: 'echo\n', executable: true },
    'to-a': { target: 'a.py' },
  }
  const oddAfter = Buffer.concat([Buffer.from('first\r\n'), odd])

  async function changedRun(): Promise<string> {
    const runId = await playRun(api, [], { tree })
    const put = (content: string | Uint8Array) => api.blobs.put(api.project, Buffer.from(content))
    const file = (path: string, baseHash: string | null, resultHash: string | null) => ({
      path,
      baseHash,
      resultHash,
      changeSetIds: [],
      evidence: [],
    })
    await composeRun(api, runId, {
      files: [
        file('new/file é.py', null, await put('y = 1')),
        file('a.py', await put('import os\n'), await put('import sys\n')),
        file('lib/gone.py', await put('x = 1\n'), null),
        file('lib/odd.txt', await put(odd), await put(oddAfter)),
        file('lib/same.sh', await put('echo\n'), await put('echo\n')),
      ],
    })
    return runId
  }

  /** Of files that are their own hashes. */
  const archiveOfFiles = (names: readonly string[], readBlob: (hash: string) => Promise<Uint8Array>) => {
    const files = names.map((path) => ({ path, hash: path, size: 0, executable: false }))
    const snapshot = { files, links: [], find: () => undefined }
    return archiveOf({ composition: { files: [] }, snapshot, readBlob }, { files: 'all', side: 'after' })
  }

  const archive = (runId: string, query: string) => api.ask(`/v1/runs/${runId}/archive?${query}`)

  async function unpacked(runId: string, query: string): Promise<{ path: string; names: string[] }> {
    const answer = await archive(runId, query)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/gzip'])
    const path = await mkdtemp(join(tmpdir(), 'remora-archive-'))
    open.push(path)
    await writeFile(join(path, 'it.tar.gz'), Buffer.from(await answer.arrayBuffer()))
    await mkdir(join(path, 'tree'))
    await run('tar', ['-xzf', join(path, 'it.tar.gz'), '-C', join(path, 'tree')])
    const { stdout } = await run('tar', ['-tzf', join(path, 'it.tar.gz'), '--quoting-style=literal'])
    return { path: join(path, 'tree'), names: stdout.trim().split('\n') }
  }

  const open: string[] = []
  afterEach(async () => {
    for (const path of open.splice(0)) await rm(path, { recursive: true, force: true })
  })

  it.skipIf(lacks('git'))('is after the changes what it was before them with the patch applied', async () => {
    const runId = await changedRun()
    const before = await unpacked(runId, 'files=all&side=before')
    expect(before.names).toEqual(['a.py', 'lib/gone.py', 'lib/odd.txt', 'lib/same.sh', 'to-a'])
    const after = await unpacked(runId, 'of=proposed')
    expect(after.names).toEqual(['a.py', 'lib/odd.txt', 'lib/same.sh', 'new/file é.py', 'to-a'])
    const patch = await api.ask(`/v1/runs/${runId}/patch?of=proposed`)
    const file = join(before.path, '..', 'it.patch')
    await writeFile(file, Buffer.from(await patch.arrayBuffer()))
    await run('git', ['apply', file], { cwd: before.path })
    await run('diff', ['-r', '--no-dereference', before.path, after.path])
    const modes = async ({ path }: { path: string }) =>
      (await run('find', ['.', '-type', 'f', '-perm', '-u=x'], { cwd: path })).stdout.split('\n').toSorted()
    expect(await modes(after)).toEqual(['', './a.py', './lib/same.sh'])
    expect(await modes(before)).toEqual(await modes(after))
    expect(await readlink(join(after.path, 'to-a'))).toBe('a.py')
  })

  it('has only the changed files where these were asked for, on either side', async () => {
    const runId = await changedRun()
    const after = await unpacked(runId, 'files=changed')
    expect(after.names).toEqual(['a.py', 'lib/odd.txt', 'new/file é.py'])
    expect(await readFile(join(after.path, 'lib/odd.txt'))).toEqual(oddAfter)
    expect((await stat(join(after.path, 'a.py'))).mode & 0o777).toBe(0o755)
    const before = await unpacked(runId, 'files=changed&side=before')
    expect(before.names).toEqual(['a.py', 'lib/gone.py', 'lib/odd.txt'])
    expect(await readFile(join(before.path, 'lib/odd.txt'))).toEqual(odd)
  })

  it('names the changes, the same on both sides', async () => {
    const runId = await changedRun()
    const named = async (query: string) => {
      const answer = await archive(runId, query)
      await answer.arrayBuffer()
      return answer.headers.get('remora-composition')
    }
    const [after, before] = [await named('files=changed'), await named('files=changed&side=before')]
    expect(after).toMatch(/^[0-9a-f]{64}$/)
    expect(before).toBe(after)
    const other = await playRun(api, [], { tree })
    await composeRun(api, other, { files: [] })
    expect((await archive(other, 'files=all')).headers.get('remora-composition')).not.toBe(after)
  })

  it('is no content when only changed files were asked for and nothing is changed', async () => {
    const runId = await changedRun()
    const accepted = await archive(runId, 'of=accepted&files=changed')
    expect([accepted.status, await accepted.text()]).toEqual([204, ''])
    expect((await archive(runId, 'of=accepted&files=all')).status).toBe(200)
  })

  it('fails openly when the first blob is missing, and breaks off at a later one', async () => {
    const runId = await playRun(api, [], { tree })
    const lost = { path: '0.py', baseHash: null, resultHash: '0'.repeat(64), changeSetIds: [], evidence: [] }
    await composeRun(api, runId, { files: [lost] })
    const answer = await archive(runId, 'files=all')
    expect(await answer.json()).toMatchObject({ status: 500, error_code: 'STORE_003', run_id: runId })
    const { promise: isTaken, resolve: take } = Promise.withResolvers<void>()
    const parts = archiveOfFiles(['first', 'lost'], async (hash) => {
      if (hash === 'first') return randomBytes(2 ** 20)
      await isTaken
      throw new AppError('STORE_003', 'it is missing')
    })
    expect((await parts?.next())?.done).toBe(false)
    take()
    await expect(Array.fromAsync(parts ?? [])).rejects.toMatchObject({ code: 'STORE_003' })
  })

  it('is not there before the run has read what it was given, and not what others ask for', async () => {
    const runId = await playRun(api, [])
    expect(await (await archive(runId, 'side=before')).json()).toMatchObject({ error_code: 'RUN_006' })
    expect((await archive(runId, 'files=some')).status).toBe(400)
    expect((await api.askAs('other', `/v1/runs/${runId}/archive`)).status).toBe(404)
  })

  it('reads one file at a time, and none when nobody takes what was read', async () => {
    const size = 3 * 2 ** 20
    const names = Array.from({ length: 12 }, (_none, at) => `f${String(at).padStart(2, '0')}`)
    let reads = 0
    let reading = 0
    const parts = archiveOfFiles(names, async () => {
      expect(++reading).toBe(1)
      reads += 1
      await nextTurn()
      reading -= 1
      return randomBytes(size)
    })
    await parts?.next()
    let seen = -1
    while (seen !== reads) {
      seen = reads
      for (let turn = 0; turn < 200; turn++) await nextTurn()
    }
    expect(reads).toBeLessThan(6)
    let bytes = 0
    for await (const part of parts ?? []) bytes += part.length
    expect([reads, bytes > names.length * size]).toEqual([names.length, true])
  })
})
