import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { checkPaths } from '#bundles/check-paths.ts'
import { openTypeChecker } from '#tool-scripts/type-checker.ts'
import { requireArtifactFolder, writeScriptArtifacts } from './write-script-artifacts.ts'
import { useFreshFolder } from './fresh-folder.fixture.ts'

const bundle = (name: string) => `name: ${name}
description: Probes.
node_kinds: [function]
languages: [python]
initial_context: { system_prompt: a, node_context: b }
tools:
  - { name: submit, script: tools/submit_result.pym, description: Submit. }
  - { name: look, script: tools/look.pym, description: Look. }
  - { builtin: submit_result }
`
const typeChecker = openTypeChecker()
afterAll(() => typeChecker.close())

let dir = ''
useFreshFolder((path) => (dir = path))

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(dir, path)), { recursive: true })
  await writeFile(join(dir, path), text)
}

/** Two bundles with a script of one name each, and two lone scripts of one name. */
async function project(at: string): Promise<void> {
  for (const name of ['one', 'two']) {
    await put(`${at}/agents/${name}/bundle.yaml`, bundle(name))
    await put(
      `${at}/agents/${name}/tools/submit_result.pym`,
      `from grail import Input\nsummary: str = Input("summary")\nx = "${name}: " + summary\nx\n`,
    )
    await put(`${at}/agents/${name}/tools/look.pym`, 'x = 1\nx\n')
    await put(`${at}/${name}/probe.pym`, `x = "${name}"\nx\n`)
  }
}

async function filesIn(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(join(dir, folder), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const read = files
    .toSorted()
    .map(async (file) => [file.slice(join(dir, folder).length + 1), await readFile(file, 'utf8')])
  return Object.fromEntries(await Promise.all(read))
}

const write = (paths: readonly string[], out: string, at = 'a') =>
  writeOf(
    paths.map((path) => join(dir, at, path)),
    out,
    at,
  )

async function writeOf(paths: readonly string[], out: string, at = ''): Promise<string[]> {
  const checked = await checkPaths(paths, { typeChecker })
  const scripts = checked.flatMap((item) => item.scripts)
  return writeScriptArtifacts(scripts, { dir: join(dir, out), cwd: join(dir, at) })
}

describe('the artifacts of scripts', () => {
  it('are the same bytes, however often, in which order and wherever the scripts lie', async () => {
    await project('a')
    await project('elsewhere/b')
    const paths = ['agents', 'one/probe.pym', 'two/probe.pym']
    await write(paths, 'out1')
    await write(paths.toReversed(), 'out2')
    await write(paths.toReversed(), 'out2')
    await write(['agents/two', 'agents/one/tools/submit_result.pym', 'agents/one', ...paths], 'out3', 'elsewhere/b')
    const first = await filesIn('out1')
    expect(Object.keys(first)).toHaveLength(6 * 6)
    expect(await filesIn('out2')).toEqual(first)
    expect(await filesIn('out3')).toEqual(first)
    expect(Object.values(first).filter((text) => text.includes(dir))).toEqual([])
  })

  it('never share a folder, whatever the scripts are called', async () => {
    await project('a')
    const names = ['x.pym', 'X.pym', 'd/x.pym', 'D/x.pym', 'ä.pym', 'a b.pym', 'a?b.pym', '..x.pym', 'd_x.pym']
    for (const name of names) await put(`a/${name}`, `x = ${JSON.stringify(name)}\nx\n`)
    const folders = await write(['agents', 'one/probe.pym', 'two/probe.pym', ...names], 'out')
    expect(new Set(folders.map((folder) => folder.toLowerCase())).size).toBe(6 + names.length)
    const codes = Object.entries(await filesIn('out')).filter(([file]) => file.endsWith('monty_code.py'))
    expect(codes).toHaveLength(6 + names.length)
    expect(Object.keys(await filesIn('out'))).toEqual(
      expect.arrayContaining(['one/submit/check.json', 'two/submit/check.json', '_/x/check.json']),
    )
  })

  it('are refused, before anything is written, for two bundles of one name', async () => {
    await project('a')
    await project('b')
    const both = [join(dir, 'a/agents/one'), join(dir, 'b/agents/one')]
    const writing = writeOf(both, 'out')
    await expect(writing).rejects.toMatchObject({ code: 'CONFIG_003', message: /two bundles are named one/ })
    await expect(readdir(join(dir, 'out'))).rejects.toThrow('ENOENT')
  })

  it.each([
    ['a file', 'file', /file is a file, not a folder/],
    ['a folder under a file', 'file/under', /under cannot be made: ENOTDIR/],
    ['a folder that cannot be written', '/proc/self', /cannot be written/],
  ])('are not written to %s', async (_what, place, message) => {
    await put('file', '')
    const folder = place.startsWith('/') ? place : join(dir, place)
    await expect(requireArtifactFolder(folder)).rejects.toMatchObject({
      code: 'CONFIG_003',
      message: expect.stringMatching(message),
    })
  })
})
