import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startLocalRedis, type LocalRedis } from '#platform/local-redis.ts'
import { startTestS3 } from '#testing/s3.ts'
import { freePorts, lacks } from '#testing/this-machine.ts'
import { openPrograms } from '../program.ts'
import { type Services, startServices } from '../services.ts'
import { smallSource, sourceFolder, type SourceFolder } from '../source-folder.ts'

/** As docs/guide/deploy.md gives it. */
const acl = 'user remora on >a-password-of-some-length ~remora:* ~{remora* &remora:* +@all -@admin -@dangerous +info'

/** A Redis as a provider hands it out: TLS alone, and a user who may do no more than Remora needs. */
describe.skipIf(lacks('openssl'))('a Redis with TLS, and a user with few rights', () => {
  const programs = openPrograms()
  const open: { dir?: string; redis?: LocalRedis; s3?: { stop(): Promise<void> }; folder?: SourceFolder } = {}
  let services: Services
  let folder: SourceFolder

  beforeAll(async () => {
    const dir = (open.dir = await mkdtemp(join(tmpdir(), 'remora-managed-redis-')))
    const [certificate, key] = [join(dir, 'certificate.pem'), join(dir, 'key.pem')]
    const names = ['-subj', '/CN=redis', '-addext', 'subjectAltName=IP:127.0.0.1']
    const files = ['-keyout', key, '-out', certificate, '-days', '2']
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...names, ...files], { stdio: 'ignore' })
    await writeFile(join(dir, 'users.acl'), `user default off\n${acl}\n`)
    const [port = 0] = await freePorts(1)
    const tls = {
      'tls-port': String(port),
      'tls-cert-file': certificate,
      'tls-key-file': key,
      'tls-auth-clients': 'no',
    }
    const settings = { ...tls, port: '0', aclfile: join(dir, 'users.acl') }
    open.redis = await startLocalRedis({ env: process.env, dir: join(dir, 'data'), settings })
    const { s3, stop } = await startTestS3()
    open.s3 = { stop }
    folder = open.folder = await sourceFolder(smallSource)
    const redisUrl = `rediss://remora:a-password-of-some-length@127.0.0.1:${port}`
    const env = { NODE_EXTRA_CA_CERTS: certificate }
    services = await startServices(programs, { redisUrl, s3, stop }, { env })
  })
  afterAll(async () => {
    await programs.end()
    await open.redis?.stop()
    await open.s3?.stop()
    await open.folder?.remove()
    if (open.dir !== undefined) await rm(open.dir, { recursive: true, force: true })
  })

  it('serves a run to its end, and a decision on it; no command is refused', async () => {
    const run = await services.api.submit(await folder.pack(), { agents: ['lint', 'docstring'] })
    expect((await services.api.follow(run)).status).toBe('completed')
    const { origin } = services.named('api')
    const decided = await fetch(`${origin}/v1/runs/${run}/decisions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${services.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ where: {}, verdict: 'accept' }),
    })
    expect(decided.status).toBe(200)
    const metrics = await (await fetch(`${services.named('discovery').health}/metrics`)).text()
    expect(metrics).toMatch(/^remora_redis_used_share \d/m)
    for (const { name, err, out } of services.all)
      expect(`${out()}${err()}`, name).not.toMatch(/NOPERM|"level":"(?:warn|error)"/)
  })
})
