import { createWriteStream, openSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { plainTar } from '#platform/gzipped-tar.ts'
import { lacks } from '#testing/this-machine.ts'
import { openProgramSearch } from './find-programs.ts'
import { openSandbox } from './open-sandbox.ts'
import { runIn, testSandbox, testSandboxes } from './sandbox.fixture.ts'

const sandboxes = await testSandboxes(process.env)
const shell = (script: string) => ['sh', '-c', script] as const
const text = (content: string) => Buffer.from(content)

describe.each(sandboxes)('a program in $name', ({ name, sandbox, lack }) => {
  describe.skipIf(lack !== undefined)(`here: ${lack ?? 'yes'}`, () => {
    let dir = ''
    const base = async () => openSync(join(dir, 'base.tar'), 'r')
    beforeAll(async () => {
      dir = await mkdtemp(join(tmpdir(), 'remora-base-'))
      const items = [
        { path: 'src/a.txt', content: text('a\n'), executable: false },
        { path: 'src/run.sh', content: text('#!/bin/sh\necho ran\n'), executable: true },
        { path: '-rf', content: text('odd\n'), executable: false },
        { path: 'two\nlines', content: text('odd\n'), executable: false },
        { path: 'link', target: 'src/a.txt' },
      ]
      await pipeline(Readable.from(plainTar(items)), createWriteStream(join(dir, 'base.tar')))
    })
    afterAll(() => rm(dir, { recursive: true }))

    const listing = shell('ls -A1 --quoting-style=c . src; cat link; src/run.sh')

    it('finds the files of the base, with their bits and links', async () => {
      const { output } = await runIn(sandbox, listing, { files: { base } })
      expect(output).toBe('".":\n"-rf"\n"link"\n"src"\n"two\\nlines"\n\n"src":\n"a.txt"\n"run.sh"\na\nran\n')
    })

    it('finds them changed, deleted and new', async () => {
      const changed = [
        { path: 'src/a.txt', content: text('changed\n'), executable: false },
        { path: '-rf/inside', content: text('now a folder\n'), executable: false },
        { path: 'src/run.sh', content: text('#!/bin/sh\necho changed\n'), executable: true },
        { path: 'new/tool', content: text('#!/bin/sh\necho new\n'), executable: true },
      ]
      const files = { base, changed, deleted: ['two\nlines', '-rf'] }
      const { output } = await runIn(sandbox, shell('cat link; src/run.sh; new/tool; ls -A1; cat ./-rf/inside'), {
        files,
      })
      expect(output).toBe('changed\nchanged\nnew\n-rf\nlink\nnew\nsrc\nnow a folder\n')
    })

    it('has what it writes only as long as it runs', async () => {
      const files = { base }
      await runIn(sandbox, shell('echo gone > src/a.txt; echo gone > new'), { files })
      const { output } = await runIn(sandbox, shell('cat src/a.txt; ls new'), { files })
      expect(output).toContain('a\n')
      expect(output).toContain("'new': No such file or directory")
    })

    it('gives its exit code, its output in order and its report', async () => {
      const ended = await runIn(sandbox, shell('echo out; echo err >&2; echo figures > /tmp/r; exit 7'), {
        report: '/tmp/r',
      })
      expect(ended).toMatchObject({ ending: { kind: 'exited', code: 7 }, output: 'out\nerr\n', cutBytes: 0 })
      expect(Buffer.from(ended.report ?? []).toString()).toBe('figures\n')
    })

    it.each([
      [['no-such-program'], 127],
      [shell('kill -SEGV $$'), 139],
    ] as const)('%j has the exit code that a shell would give: %i', async (command, code) => {
      expect((await runIn(sandbox, command)).ending).toEqual({ kind: 'exited', code })
    })

    it('keeps of a long output the beginning and the end, and says how much is missing', async () => {
      const { output, cutBytes } = await runIn(sandbox, shell('seq 1 100000'))
      expect(output.startsWith('1\n2\n3\n')).toBe(true)
      expect(output.endsWith('99999\n100000\n')).toBe(true)
      expect(output).toContain(`\n[${cutBytes} bytes left out]\n`)
      expect(cutBytes).toBeGreaterThan(400_000)
    })

    it('is not begun when its files do not fit', async () => {
      const changed = [{ path: 'big', content: Buffer.alloc(30_000_000), executable: false }]
      const { ending } = await runIn(sandbox, ['true'], { files: { changed }, limits: { diskBytes: 20_000_000 } })
      expect(ending).toEqual({ kind: 'stopped', reason: 'files' })
    })

    it('ends when it is stopped at any moment of its start', async () => {
      const moments = Array.from({ length: 40 }, (_, ms) => ms + 1)
      for (const wallMs of moments) {
        const { ending } = await runIn(sandbox, ['sleep', '600'], { limits: { wallMs } })
        expect(ending).toEqual({ kind: 'stopped', reason: 'time' })
      }
    })

    it('has a Node, in bubblewrap that of this process, and can start it', async () => {
      const { output } = await runIn(sandbox, ['node', '-p', 'process.version'])
      expect(output).toMatch(name === 'bubblewrap' ? `${process.version}\n` : /^v\d+\.\d+\.\d+\n$/)
    })
  })
})

const { sandbox: one, lack: lackOfOne } = await testSandbox(process.env, { places: 1 })

it.skipIf(lackOfOne !== undefined)(
  `a program waits until there is a place (${lackOfOne ?? 'bubblewrap'})`,
  async () => {
    const script = shell('date +%s%N; sleep 0.2; date +%s%N')
    const ended = await Promise.all([runIn(one, script), runIn(one, script)])
    const [[, firstEnd = 0] = [], [secondStart = 0] = []] = ended.map(({ output }) =>
      output.trim().split('\n').map(Number),
    )
    expect(secondStart).toBeGreaterThan(firstEnd)
  },
)

it.skipIf(lackOfOne !== undefined || lacks('go'))(
  `a program finds the Go of this machine, which asks no network for anything (${lackOfOne ?? 'bubblewrap'})`,
  async () => {
    const changed = [{ path: 'go.mod', content: text('module a\n\ngo 1.999\n'), executable: false }]
    const { output } = await runIn(one, shell('go version; go build ./...'), { files: { changed } })
    expect(output).toMatch(/^go version go1\.\d+/)
    expect(output).toContain('go.mod requires go >= 1.999')
    expect(await openProgramSearch(one, { lack: async () => 'none' })()).toMatchObject({
      names: expect.arrayContaining(['python3', 'node', 'go']),
    })
  },
)

it('Podman is not used where its profile of system calls cannot be read, since its own allows too much', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'remora-podman-'))
  await writeFile(join(dir, 'podman'), '#!/bin/sh\necho /nowhere/seccomp.json\n', { mode: 0o755 })
  const sandbox = openSandbox({ searchPath: dir, image: 'some', runtime: 'container' })
  await expect(runIn(sandbox, ['true'])).rejects.toMatchObject({
    code: 'TOOL_005',
    message: expect.stringContaining('podman does not work here: its profile of system calls cannot be read'),
  })
  await rm(dir, { recursive: true })
})

describe('without a sandbox', () => {
  it.each([
    [{ searchPath: '/nowhere' }, 'bubblewrap is not installed'],
    [{ searchPath: '/nowhere', bubblewrap: '/nowhere/bwrap' }, /did not start: spawn .*ENOENT/],
    [{ searchPath: '/nowhere', runtime: 'none' as const }, /sandbox.runtime is none/],
    [{ searchPath: '/nowhere', runtime: 'container' as const }, /no image for containers is named/],
    [
      { searchPath: '/nowhere', image: 'some' },
      'bubblewrap is not installed; podman is not installed; docker is not installed',
    ],
  ])('of %j nothing is run', async (options, words) => {
    const none = openSandbox(options)
    await expect(runIn(none, ['true'])).rejects.toMatchObject({
      code: 'TOOL_005',
      message: expect.stringMatching(words),
    })
    expect(await none.state()).toMatchObject({ kind: 'lacking', reason: expect.stringMatching(words) })
    const programs = openProgramSearch(none, { lack: async () => undefined })
    expect(await programs()).toEqual({ names: ['gofmt'], lack: expect.stringMatching(words) })
  })
})
