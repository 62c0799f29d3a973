import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePorts } from '#testing/this-machine.ts'
import { grammarFiles } from '#languages/syntax/grammars.ts'
import { openPrograms } from '../program.ts'
import { type Services, startServices, startStores, type Stores } from '../services.ts'
import { smallSource, sourceFolder, type SourceFolder } from '../source-folder.ts'

/** What infra/Dockerfile copies into its image, without Docker: the Node there is the one here. */
describe('what the container image has', () => {
  const programs = openPrograms()
  const open: { stores?: Stores; folder?: SourceFolder; out?: string } = {}
  let folder: SourceFolder
  let app = ''
  let services: Services

  beforeAll(async () => {
    open.out = await mkdtemp(join(tmpdir(), 'remora-image-'))
    app = `${open.out}/app/`
    const built = programs.start(['scripts/build-image.ts', app], { env: {} })
    if ((await built.exited) !== 0) throw new Error(built.err())
    await chmod(app, 0o555)
    open.stores = await startStores()
    folder = open.folder = await sourceFolder(smallSource)
    const env = { NODE_ENV: 'production' }
    // Without an app it waits.
    const publishing = { publisherEnv: {}, apiEnv: {} }
    services = await startServices(programs, open.stores, { checkout: app, env, publishing })
  })
  afterAll(async () => {
    await programs.end()
    await open.stores?.stop()
    await open.folder?.remove()
    if (open.out !== undefined) await rm(open.out, { recursive: true, force: true })
  })

  it('runs every service, and takes a run to its end', async () => {
    const run = await services.api.submit(await folder.pack(), { agents: ['lint', 'docstring'] })
    const { status } = await services.api.follow(run)
    expect(status).toBe('completed')
    const ended = (await services.api.operations(run)).map((one) => `${one.agent} ${one.status}`)
    expect(ended.toSorted()).toEqual(['docstring succeeded', 'docstring succeeded', 'lint succeeded'])
  })

  it('shows the page of the HTTP API with what packages have for it', async () => {
    const parts = ['docs', 'docs/swagger-ui.css', 'docs/swagger-ui-bundle.js', 'openapi.json']
    const texts = await Promise.all(parts.map(async (part) => (await services.api.ask(`/${part}`)).text()))
    expect(texts).toEqual([
      expect.stringContaining('swagger-ui.css'),
      expect.stringContaining('.swagger-ui'),
      expect.stringContaining('SwaggerUIBundle'),
      expect.stringContaining('"openapi":'),
    ])
  })

  it('has the dashboard, with each file that its page names', async () => {
    const html = await (await services.api.ask('/')).text()
    const named = [...html.matchAll(/(?:src|href)="(?:\.\/)?([^"]+\.(?:js|css))"/g)].flatMap(([, file]) => file ?? [])
    const answers = await Promise.all(named.map((file) => services.api.ask(`/${file}`)))
    expect(answers.map(({ status }) => status)).toEqual(named.map(() => 200))
    expect(named.length).toBeGreaterThan(1)
  })

  it('finds out whether its own service lives, whatever else answers', async () => {
    const port = (name: string) => new URL(services.named(name).health ?? '').port
    const check = (service: string[], env: Record<string, string>) => {
      const program = programs.start(['scripts/healthcheck.mjs', ...service], { env, checkout: app })
      return program.exited.then((code) => ({ code, err: program.err() }))
    }
    const [api, worker] = [port('api'), port('worker-1')]
    const [nobody] = await freePorts(1)
    const lives = { code: 0, err: '' }
    expect(await check(['worker'], { REMORA_WORKER_HEALTH_PORT: worker })).toEqual(lives)
    expect(await check(['publisher'], { REMORA_PUBLISHER_HEALTH_PORT: port('publisher') })).toEqual(lives)
    expect(await check(['api'], { REMORA_API_HEALTH_PORT: api, REMORA_WORKER_HEALTH_PORT: '' })).toEqual(lives)
    const dead = { REMORA_API_HEALTH_PORT: api, REMORA_WORKER_HEALTH_PORT: String(nobody) }
    expect(await check(['worker'], dead)).toMatchObject({ code: 1, err: expect.stringContaining('ECONNREFUSED') })
    // This machine was not started with a service.
    expect(await check([], dead)).toMatchObject({ code: 1, err: expect.stringContaining('name one of api') })
  })

  it('has the grammar of every language, and no tests, sources or tools', async () => {
    const files = await readdir(app, { recursive: true })
    expect(files).toEqual(expect.arrayContaining(grammarFiles.map((file) => `dist/packages/${file}`)))
    const unwanted = /\.(?:ts|map|c)$|\.test\.js$|^node_modules\/(?:typescript|vitest|oxfmt|knip)$/
    expect(files.filter((file) => unwanted.test(file))).toEqual([])
  })
})
