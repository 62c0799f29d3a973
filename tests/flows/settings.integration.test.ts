import { afterAll, describe, expect, it } from 'vitest'
import { openPrograms } from '../e2e/program.ts'
import { manyFunctions, sourceFolder } from '../e2e/source-folder.ts'

const programs = openPrograms()
afterAll(() => programs.end())

describe('remora run in a folder with settings', () => {
  it('works on what they leave in, with the bundles as they want them', async () => {
    const settings = 'discovery: { exclude: [vendor] }\nagents: { mapping: { docstring: { node_kinds: [class] } } }\n'
    const source = `${manyFunctions(2)}\n\nclass Shop:\n    open = True\n`
    const folder = await sourceFolder({ 'remora.yaml': settings, 'shop.py': source, 'vendor/other.py': source })
    const args = ['cli/remora.mjs', 'run', '--agents', 'docstring', '--out', 'docs.patch', '--json']
    const run = programs.start(args, { env: {}, cwd: folder.path })
    expect(await run.exited, run.err()).toBe(0)
    const patch = await folder.read('docs.patch')
    expect(patch.match(/^diff --git.*$/gm)).toEqual(['diff --git a/shop.py b/shop.py'])
    expect(patch.match(/^\+.*"""/gm)).toHaveLength(1)
    await folder.remove()
  })

  it('does not send a key to servers they name by being there, and works without them', async () => {
    const settings = 'model: { pool: [{ url: "http://127.0.0.1:1/v1" }] }\n'
    const folder = await sourceFolder({ 'remora.yaml': settings, 'shop.py': manyFunctions(1) })
    const start = (...args: string[]) =>
      programs.start(['cli/remora.mjs', ...args], { env: { REMORA_MODEL_API_KEY: 'key-of-mine' }, cwd: folder.path })
    const refused = start('run', '--agents', 'docstring')
    expect(await refused.exited).toBe(1)
    expect(refused.err()).toMatch(/CONFIG_003 .*remora\.yaml:1: REMORA_MODEL_API_KEY would be sent/)
    await expect(folder.read('.remora/.gitignore')).rejects.toThrow('ENOENT')
    const rehearsed = start('run', '--agents', 'docstring', '--model', 'rehearsal')
    expect(await rehearsed.exited, rehearsed.err()).toBe(0)
    const listed = start('runs')
    expect([await listed.exited, listed.out()]).toEqual([0, expect.stringContaining('completed')])
    await folder.remove()
  })

  it('starts nothing when they name a setting that the agent does not have, and names the place', async () => {
    const settings = 'agents:\n  settings: { docstring: { styl: google } }\n'
    const folder = await sourceFolder({ 'remora.yaml': settings, 'shop.py': manyFunctions(1) })
    const run = programs.start(['cli/remora.mjs', 'run', '--agents', 'lint'], { env: {}, cwd: folder.path })
    expect(await run.exited).toBe(1)
    expect(run.err()).toMatch(/CONFIG_004 .*remora\.yaml:2: .*did you mean style\?/)
    await expect(folder.read('.remora/.gitignore')).rejects.toThrow('ENOENT')
    await folder.remove()
  })

  it('starts nothing when they are wrong, and names the place', async () => {
    const folder = await sourceFolder({ 'remora.yaml': 'execution: { concurency: 2 }\n', 'shop.py': manyFunctions(1) })
    const run = programs.start(['cli/remora.mjs', 'run', '--agents', 'lint'], { env: {}, cwd: folder.path })
    expect(await run.exited).toBe(1)
    expect(run.err()).toMatch(/CONFIG_004 .*remora\.yaml:1: .*did you mean concurrency\?/)
    await expect(folder.read('.remora/.gitignore')).rejects.toThrow('ENOENT')
    const doctor = programs.start(['cli/remora.mjs', 'doctor', '--json'], { env: {}, cwd: folder.path })
    expect(await doctor.exited).toBe(1)
    expect(JSON.parse(doctor.out())).toMatchObject({
      ok: false,
      findings: expect.arrayContaining([expect.objectContaining({ name: 'settings', state: 'missing' })]),
    })
    const version = programs.start(['cli/remora.mjs', '--version'], { env: {}, cwd: folder.path })
    expect(await version.exited).toBe(0)
    await folder.remove()
  })
})
