import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-own-node-'))
  await mkdir(join(dir, 'node_modules', '.bin'), { recursive: true })
  const module = new URL('own-node.mjs', import.meta.url).href
  const told = 'JSON.stringify({ args: process.argv.slice(2), env: process.env })'
  const call = "runsOnOwnNode(import.meta.filename, { isBrief: process.env.BRIEF === '1' })"
  await writeFile(
    join(dir, 'self.mjs'),
    `import { runsOnOwnNode } from '${module}'\nif (${call}) console.log(${told})\n`,
  )
  const old = "{ ...process.versions, node: '20.1.0' }"
  await writeFile(join(dir, 'old.cjs'), `Object.defineProperty(process, 'versions', { value: ${old} })\n`)
})
afterEach(() => rm(dir, { recursive: true }))

/** A `node` in the node_modules of the program; it notes down that it was called. */
const nested = (flags = '') =>
  writeFile(
    join(dir, 'node_modules', '.bin', 'node'),
    `#!/bin/sh\necho called >> ${join(dir, 'calls')}\nexec ${process.execPath} ${flags} "$@"\n`,
    { mode: 0o755 },
  )
const calls = async () => (await readFile(join(dir, 'calls'), 'utf8').catch(() => '')).split('called').length - 1
const old = () => `-r ${join(dir, 'old.cjs')}`

/** Starts the program on a Node that may say that it is an older one. */
async function start(flags: string, env: Readonly<Record<string, string>> = {}) {
  const args = [...flags.split(' ').filter((flag) => flag !== ''), join(dir, 'self.mjs'), 'one', 'two words']
  const child = spawn(process.execPath, args, { env: { PATH: '/usr/bin:/bin', ...env } })
  const said = { out: '', err: '' }
  child.stdout.on('data', (text: Buffer) => (said.out += text.toString()))
  child.stderr.on('data', (text: Buffer) => (said.err += text.toString()))
  const [code]: unknown[] = await once(child, 'close')
  return { ...said, code }
}

describe('a program that an older Node starts', () => {
  it('runs on the Node of its package, once, and knows nothing of it', async () => {
    await nested()
    const { out, err, code } = await start(old(), { MALLOC_TRIM_THRESHOLD_: '7' })
    expect([err, code, await calls()]).toEqual(['', 0, 1])
    expect(JSON.parse(out)).toMatchObject({
      args: ['one', 'two words'],
      env: { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '7' },
    })
    expect(out).not.toContain('STARTED_ON')
  })

  it('ends with what to do when that one is as old', async () => {
    await nested(old())
    const { err, code } = await start(old())
    expect([code, await calls()]).toEqual([1, 1])
    expect(err).toMatch(
      /^remora: CONFIG_006 .* is Node 20\.1\.0: start it on Node 24, or give it one: "npm ci" .*\.\n$/,
    )
  })

  it('gets one with npm into the cache of its user when it has none, once', async () => {
    const npm = `#!/bin/sh
mkdir -p node_modules/.bin && echo called >> ${join(dir, 'calls')}
printf '#!/bin/sh\\nexec ${process.execPath} "$@"\\n' > node_modules/.bin/node && chmod +x node_modules/.bin/node\n`
    await writeFile(join(dir, 'npm'), npm, { mode: 0o755 })
    const env = { PATH: `${dir}:/usr/bin:/bin`, XDG_CACHE_HOME: join(dir, 'cache') }
    const first = await start(old(), env)
    expect(first.err).toMatch(/^remora: Node 20\.1\.0 is too old: getting node@24\.\d+\.\d+ with npm, once, into .*\n$/)
    expect([first.code, await start(old(), env), await calls()]).toMatchObject([0, { code: 0, err: '' }, 1])
    expect(await readdir(join(dir, 'cache/remora'))).toContainEqual(expect.stringMatching(/^node@24\.\d+\.\d+$/))
    const none = await start(old(), { PATH: '/nowhere', XDG_CACHE_HOME: join(dir, 'other') })
    expect([none.code, none.err]).toEqual([
      1,
      expect.stringMatching(/CONFIG_006 Node 20\.1\.0 is too old: start it on/),
    ])
  })
})

describe('a program that its own Node starts', () => {
  it.skipIf(process.platform !== 'linux')(
    'tells glibc to give memory back, unless its user says otherwise or it is brief',
    async () => {
      const { out } = await start('')
      expect(JSON.parse(out)).toMatchObject({ env: { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' } })
      const own = await start('', { MALLOC_TRIM_THRESHOLD_: '7' })
      expect(JSON.parse(own.out)).toMatchObject({ env: { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '7' } })
      const brief = await start('', { BRIEF: '1' })
      expect([brief.code, brief.out.includes('MALLOC')]).toEqual([0, false])
    },
  )

  it('keeps compiled code in the cache of its user, and nothing in TMPDIR', async () => {
    const places = { TMPDIR: join(dir, 'tmp'), XDG_CACHE_HOME: join(dir, 'cache') }
    await mkdir(places.TMPDIR)
    const cache = join(dir, 'cache/remora/node-compile-cache')
    const { out, err } = await start('', places)
    expect(err).toBe('')
    // The programs that it starts keep theirs in the same folder, not in one within.
    expect(JSON.parse(out)).toMatchObject({ env: { NODE_COMPILE_CACHE: cache } })
    expect(await start('', { ...places, NODE_COMPILE_CACHE: cache })).toMatchObject({ code: 0, err: '' })
    const folders = await readdir(cache, { recursive: true, withFileTypes: true })
    expect(folders.filter((one) => one.isDirectory()).map(({ parentPath }) => parentPath)).toEqual([cache])
    expect(await readdir(places.TMPDIR)).toEqual([])
    const own = { ...places, XDG_CACHE_HOME: join(dir, 'old.cjs') } // a file, so no cache can be there
    expect(await start('', own)).toMatchObject({ code: 0, err: '' })
    expect(await readdir(places.TMPDIR)).toEqual(['node-compile-cache'])
  })

  it('goes on where it may not replace itself', async () => {
    const { out, err, code } = await start('--permission --allow-fs-read=* --allow-fs-write=*')
    expect([err.includes('ERR_ACCESS_DENIED'), code]).toEqual([false, 0])
    expect(JSON.parse(out)).toMatchObject({ args: ['one', 'two words'] })
  })
})
