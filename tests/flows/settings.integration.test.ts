import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { remoraHere } from '../remora-here.ts'
import { startInOneProcess } from '../one-process.ts'
import { loadSettings } from '#settings/load-settings.ts'
import { manyFunctions, sourceFolder } from '../source-folder.ts'

describe('remora run in a folder with settings', () => {
  it('works on what they leave in, with the bundles as they want them', async () => {
    const settings = 'discovery: { exclude: [vendor] }\nagents: { mapping: { docstring: { node_kinds: [class] } } }\n'
    const source = `${manyFunctions(2)}\n\nclass Shop:\n    open = True\n`
    const folder = await sourceFolder({ 'remora.yaml': settings, 'shop.py': source, 'vendor/other.py': source })
    onTestFinished(folder.remove)
    const { env } = loadSettings({}, folder.path)
    const services = await startInOneProcess({ env: { REMORA_AGENTS_MAPPING: env['REMORA_AGENTS_MAPPING'] ?? '' } })
    onTestFinished(services.close)
    const run = await services.remora(folder, ['run', '--agents', 'docstring', '--out', 'docs.patch', '--json'])
    expect(run).toMatchObject({ code: 0 })
    const patch = await folder.read('docs.patch')
    expect(patch.match(/^diff --git.*$/gm)).toEqual(['diff --git a/shop.py b/shop.py'])
    expect(patch.match(/^\+.*"""/gm)).toHaveLength(1)
  })

  it('keeps what is large of the events of every stage out of Redis, and shows it whole', async () => {
    const folder = await sourceFolder({ 'shop.py': manyFunctions(2) })
    onTestFinished(folder.remove)
    const services = await startInOneProcess({ env: { REMORA_MAX_INLINE_EVENT_BYTES: '256' } })
    onTestFinished(services.close)
    const { out } = await services.remora(folder, ['submit', '--agents', 'docstring,lint', '--json'])
    const runId = String(JSON.parse(out).run_id)
    const { events, status } = await services.api.follow(runId)
    expect(status).toBe('completed')
    const large = events.filter(({ data }) => JSON.stringify(data).length > 256).map(({ event }) => event)
    const ofEachStage = ['bundles.checked', 'run.planned', 'change_set.created', 'run.composed']
    expect(new Set(large)).toEqual(new Set([...large, ...ofEachStage]))
    const redis = new Redis(services.stores.redisUrl)
    onTestFinished(() => redis.disconnect())
    const stored = await redis.xrange(`remora:{${runId}}:events`, '-', '+')
    expect(stored).toHaveLength(events.length)
    expect(Math.max(...stored.map(([, fields]) => fields.join('').length))).toBeLessThan(700)
    expect(await services.verify(runId)).toMatchObject({ code: 0 })
  })

  it('does not send a key to servers they name by being there', async () => {
    const settings = 'model: { pool: [{ url: "http://127.0.0.1:1/v1" }] }\n'
    const folder = await sourceFolder({ 'remora.yaml': settings, 'shop.py': manyFunctions(1) })
    const refused = await remoraHere(folder, ['run', '--agents', 'docstring'], { REMORA_MODEL_API_KEY: 'key-of-mine' })
    expect(refused.code).toBe(1)
    expect(refused.err).toMatch(/CONFIG_003 .*remora\.yaml:1: REMORA_MODEL_API_KEY would be sent/)
    await expect(folder.read('.remora/.gitignore')).rejects.toThrow('ENOENT')
    await folder.remove()
  })

  it('starts nothing when they are wrong, and names the place', async () => {
    const folder = await sourceFolder({ 'remora.yaml': 'execution: { concurency: 2 }\n', 'shop.py': manyFunctions(1) })
    const run = await remoraHere(folder, ['run', '--agents', 'lint'])
    expect(run.code).toBe(1)
    expect(run.err).toMatch(/CONFIG_004 .*remora\.yaml:1: .*did you mean concurrency\?/)
    await expect(folder.read('.remora/.gitignore')).rejects.toThrow('ENOENT')
    const doctor = await remoraHere(folder, ['doctor', '--json'])
    expect(doctor.code).toBe(1)
    expect(JSON.parse(doctor.out)).toMatchObject({
      ok: false,
      findings: expect.arrayContaining([expect.objectContaining({ name: 'settings', state: 'missing' })]),
    })
    expect((await remoraHere(folder, ['--version'])).code).toBe(0)
    await folder.remove()
  })
})
