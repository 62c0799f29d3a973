import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { languages } from '#languages/syntax/grammars.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import { runCommand } from './served-api.fixture.ts'
import { useFreshFolder } from '../fresh-folder.fixture.ts'

let top: string

useFreshFolder((path) => (top = path))

const remora = (...args: string[]) => remoraUntil(new AbortController().signal, ...args)

/** What is set for a call. */
let environment: Readonly<Record<string, string>>
beforeEach(() => {
  environment = {}
})

async function writePack(path: string, text: string): Promise<string> {
  const folder = join(top, 'packs', path)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'mine.scm'), text)
  return join(top, 'packs')
}

const remoraUntil = (signal: AbortSignal, ...args: string[]) =>
  runCommand(args, { signal, cwd: top, env: { XDG_CACHE_HOME: join(top, '.cache'), ...environment } })

const source = 'class A:\n    @dec\n    def m(self):\n        pass\n'

type Expected = { kind: string; name: string; within?: string; lines: number[]; bytes: number[]; parent: string | null }

/** A node of `source` as `remora discover --json` prints it. */
function node({ kind, name, within = '', lines, bytes, parent }: Expected) {
  return {
    node_id: expect.stringMatching(/^n[0-9a-f]{16}$/),
    kind,
    name,
    qualified_name: within + name,
    path: 'a.py',
    language: 'python',
    start_line: lines[0],
    end_line: lines[1],
    start_byte: bytes[0],
    end_byte: bytes[1],
    parent_id: parent,
    hash: sha256(source.slice(bytes[0], bytes[1])),
  }
}

describe('remora discover', () => {
  it('prints the document of the contract with --json', async () => {
    await writeFile(join(top, 'a.py'), source)
    await writeFile(join(top, '.hidden'), '')
    const found = JSON.parse((await remora('discover', top, '--json', '--workers', '1')).out)
    const [file, cls] = found.nodes
    expect(found).toEqual({
      nodes: [
        node({ kind: 'file', name: 'a.py', lines: [1, 4], bytes: [0, 48], parent: null }),
        node({ kind: 'class', name: 'A', lines: [1, 4], bytes: [0, 47], parent: file.node_id }),
        node({ kind: 'method', name: 'm', within: 'A.', lines: [2, 4], bytes: [13, 47], parent: cls.node_id }),
      ],
      files: 1,
      skipped: [{ path: '.hidden', reason: 'hidden' }],
      duration_ms: expect.any(Number),
    })
  })

  it('prints a table a person can read, filtered by kind', async () => {
    await writeFile(join(top, 'a.py'), source)
    const { out } = await remora('discover', top, '--kinds', 'method,class', '--workers', '1')
    expect(out).toMatch(/^a\.py\n +1-4 +class +A\n +2-4 +method +A\.m\n\n2 nodes in 1 file: 1 class, 1 method /)
  })

  it('tells with --edges what needs what, between the nodes that are asked for', async () => {
    await writeFile(join(top, 'a.py'), 'def f(): pass\n')
    await writeFile(join(top, 'b.py'), 'from a import f\n\ndef g():\n    f()\n')
    const found = JSON.parse((await remora('discover', top, '--edges', '--json', '--workers', '1')).out)
    const idOf = (name: string) => found.nodes.find((one: { name: string }) => one.name === name).node_id
    expect(found.edges).toHaveLength(2)
    expect(found.edges).toContainEqual({ from: idOf('g'), to: idOf('f'), kind: 'calls', certainty: 'exact' })
    expect(found.edges).toContainEqual({ from: idOf('b.py'), to: idOf('f'), kind: 'imports', certainty: 'exact' })
    const { out } = await remora('discover', top, '--edges', '--kinds', 'function', '--workers', '1')
    expect(out).toMatch(/\n1 edge: 1 calls\n$/)
  })

  it.each(['discover', 'queries'])('stops when it is interrupted: %s', async (command) => {
    const stop = new AbortController()
    const found = remoraUntil(stop.signal, command, ...(command === 'discover' ? [top] : ['check']))
    stop.abort(new Error('interrupted'))
    await expect(found).rejects.toThrow('interrupted')
  })

  it('uses the packs and the pack name that are set', async () => {
    await mkdir(join(top, 'src'))
    await writeFile(join(top, 'src/a.py'), `import os\n${source}`)
    const imports = '(import_statement (dotted_name) @import.name) @import.def\n'
    environment = { REMORA_QUERIES_DIR: await writePack('python/default', imports) }
    expect((await remora('discover', join(top, 'src'))).out).toContain('2 nodes in 1 file: 1 file, 1 import ')
    await writePack('python/mine', '(class_definition name: (identifier) @class.name) @class.def\n')
    environment = { ...environment, REMORA_QUERY_PACK: 'mine' }
    expect((await remora('discover', join(top, 'src'))).out).toContain('2 nodes in 1 file: 1 class, 1 file ')
  })
})

describe('remora queries', () => {
  it('passes the built-in packs and lists their kinds', async () => {
    const checked = await remora('queries', 'check')
    expect(checked).toMatchObject({ out: expect.stringMatching(/^python\/default: PASS \(4 queries\)$/m), code: 0 })
    const listed = (await remora('queries', 'list')).out
    expect(listed).toMatch(/^python\/default: file, class, function, method$/m)
    for (const language of languages) expect(listed).toContain(`${language}/default: file, `)
  })

  it('uses the folder of the settings besides that of Remora', async () => {
    const dir = await writePack('python/mine', '(class_definition name: (identifier) @class.name) @class.def\n')
    environment = { REMORA_QUERIES_DIR: dir, REMORA_QUERY_PACK: 'mine' }
    const listed = await remora('queries', 'list')
    expect(listed.out).toMatch(/^python\/default: file, /m)
    expect(listed.out).toContain(`python/mine: file, class (${join(dir, 'python/mine')})\n`)
    const unrecorded = `${join(dir, 'python/mine/manifest.json')}:1: DISC_004 hash_mismatch: there is no manifest`
    expect((await remora('queries', 'check')).out).toContain(unrecorded)
    expect((await remora('queries', 'manifest')).out).toBe(`wrote ${join(dir, 'python/mine/manifest.json')}\n`)
    const { out } = await remora('queries', 'check')
    expect(out).toContain('python/mine: PASS (1 queries)\n')
    expect(out).toMatch(/^python\/default: PASS /m)
    expect(out).not.toContain('DISC_004')
  })

  it('says how a folder is to be laid out that is not', async () => {
    await writeFile(join(top, 'a.py'), source)
    const dir = await writePack('python', '(class_definition name: (identifier) @class.name) @class.def\n')
    const fault = 'mine.scm lies in no pack: the layout is <language>/<pack>/*.scm, such as python/default/mine.scm'
    const checked = await remora('queries', 'check', '--dir', dir)
    expect(checked).toMatchObject({ out: `${dir}/python:1: DISC_001 missing_folder: ${fault}\n`, code: 1 })
    const refusal = { code: 'DISC_001', message: expect.stringContaining(fault) }
    await expect(remora('queries', 'list', '--dir', dir)).rejects.toMatchObject(refusal)
    await expect(remora('queries', 'manifest', '--dir', dir)).rejects.toMatchObject(refusal)
    environment = { REMORA_QUERIES_DIR: dir }
    await expect(remora('discover', top)).rejects.toMatchObject(refusal)
  })

  it('takes a pack that no setting names for a fault', async () => {
    const dir = await writePack('python/strict', '(class_definition name: (identifier) @class.name) @class.def\n')
    await remora('queries', 'manifest', '--dir', dir)
    const checked = await remora('queries', 'check', '--dir', dir)
    expect(checked.code).toBe(1)
    expect(checked.out).toContain(
      `${dir}/python:1: DISC_001 missing_folder: no pack named "default" in it, only "strict"`,
    )
    environment = { REMORA_QUERY_PACK: 'strict' }
    expect((await remora('queries', 'check', '--dir', dir)).code).toBe(0)
  })
})
