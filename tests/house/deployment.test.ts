import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { parseConfig } from '../../services/discovery/discovery-config.ts'
import { unknownVariables } from '#settings/settings-table.ts'
import { lacks } from '#testing/this-machine.ts'

const infra = fileURLToPath(new URL('../../infra/', import.meta.url))
const textOf = (path: string) => readFileSync(`${infra}${path}`, 'utf8')

const Compose = z.looseObject({
  services: z.record(
    z.string(),
    z.looseObject({
      secrets: z.array(z.string()).default([]),
      environment: z.record(z.string(), z.union([z.string(), z.number(), z.null()])).default({}),
    }),
  ),
  secrets: z.record(z.string(), z.looseObject({ file: z.string() })),
})

const Deployment = z.looseObject({
  kind: z.literal('Deployment'),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    template: z.looseObject({
      spec: z.looseObject({
        containers: z.tuple([z.looseObject({ env: z.array(z.looseObject({ name: z.string(), value: z.string() })) })]),
        volumes: z.array(
          z.looseObject({
            secret: z.looseObject({ items: z.array(z.looseObject({ path: z.string() })) }).optional(),
          }),
        ),
      }),
    }),
  }),
})

const Generators = z.looseObject({ configMapGenerator: z.array(z.looseObject({ literals: z.array(z.string()) })) })

const ScaledObject = z.looseObject({
  spec: z.looseObject({
    fallback: z.looseObject({ replicas: z.int(), behavior: z.string() }),
    triggers: z.array(z.looseObject({ metadata: z.looseObject({ ignoreNullValues: z.string() }) })),
  }),
})

/** The services of a way to deploy: what each is told, and which secrets it is given. */
type Told = { name: string; env: ReadonlyMap<string, string>; secrets: readonly string[] }

function toldByCompose(): Told[] {
  const { services } = Compose.parse(parse(textOf('compose.yaml'), { merge: true }))
  return Object.entries(services).map(([name, { secrets, environment }]) => {
    return { name, env: new Map(Object.entries(environment).map(([key, value]) => [key, String(value)])), secrets }
  })
}

function toldByKubernetes(): Told[] {
  const files = globSync('k8s/base/*.yaml', { cwd: infra })
  const documents = files.flatMap((file) => parseAllDocuments(textOf(file)).map((one): unknown => one.toJS()))
  const deployments = documents.flatMap((one) => Deployment.safeParse(one).data ?? [])
  return deployments.map(({ metadata, spec: { template } }) => {
    const { containers, volumes } = template.spec
    return {
      name: metadata.name,
      env: new Map(containers[0].env.map(({ name, value }) => [name, value])),
      secrets: volumes.flatMap(({ secret }) => secret?.items.map(({ path }) => path) ?? []),
    }
  })
}

describe.each([
  { way: 'compose', told: toldByCompose() },
  { way: 'Kubernetes', told: toldByKubernetes() },
])('the services of $way', ({ told }) => {
  it('are there, and are told only what Remora knows', () => {
    const names = told.map(({ name }) => name)
    for (const service of ['api', 'discovery', 'worker', 'conductor', 'watcher', 'publisher'])
      expect(names).toContain(service)
    expect(unknownVariables(told.flatMap(({ env }) => [...env.keys()]))).toEqual([])
  })

  it('are given each secret as a file that their variables name, and none that they do not need', () => {
    const ours = told.filter(({ env }) => env.has('REMORA_REDIS_URL_FILE'))
    expect(ours.length).toBeGreaterThanOrEqual(3)
    for (const { name, env, secrets } of ours) {
      const named = [...env].flatMap(([variable, path]) => (variable.endsWith('_FILE') ? path.split('/').at(-1) : []))
      expect(new Set(named), name).toEqual(new Set(secrets))
      for (const only of ['REMORA_TOKEN_FILE', 'REMORA_API_URL']) expect(env.has(only), name).toBe(name === 'api')
    }
    const holders = (secret: string) => ours.filter(({ secrets }) => secrets.includes(secret)).map(({ name }) => name)
    expect(holders('github_private_key')).toEqual(['publisher'])
    expect(holders('github_webhook_secret')).toEqual(['api'])
    expect(holders('signing_key').toSorted()).toEqual(['api', 'publisher'])
    expect(holders('publisher_secret').toSorted()).toEqual(['discovery', 'publisher'])
    const plain = [
      'REMORA_TOKEN',
      'REMORA_SIGNING_KEY',
      'REMORA_REDIS_URL',
      'REMORA_MODEL_API_KEY',
      'AWS_SECRET_ACCESS_KEY',
      'REMORA_GITHUB_PRIVATE_KEY',
      'REMORA_PUBLISHER_SECRET',
    ]
    expect(told.flatMap(({ env }) => plain.filter((variable) => env.has(variable)))).toEqual([])
  })
})

describe('compose', () => {
  it('tells who accepts and plans runs that the rehearsal model answers, unless other servers are named', () => {
    const named = new Map(toldByCompose().map(({ name, env }) => [name, env.get('REMORA_MODEL_URLS')]))
    for (const name of ['api', 'discovery', 'publisher'])
      expect(named.get(name)).toBe('${REMORA_MODEL_URLS:-rehearsal}')
    const kindOf = (text: string) =>
      parseConfig({ REMORA_REDIS_URL: 'redis://x', REMORA_MODEL_URLS: text }).config.modelKind
    expect([kindOf('rehearsal'), kindOf('http://vllm:8000/v1'), kindOf('')]).toEqual([
      'rehearsal',
      'servers',
      undefined,
    ])
  })

  it('has a file of infra/init-secrets.sh for each of its secrets', () => {
    const { secrets } = Compose.parse(parse(textOf('compose.yaml'), { merge: true }))
    const made = [...textOf('init-secrets.sh').matchAll(/^(?:put|write) (\w+)/gm)].map(([, name]) => name)
    expect(new Set(Object.keys(secrets))).toEqual(new Set(made))
  })
})

describe('the manifests for Kubernetes', () => {
  it('set only what Remora knows in their ConfigMaps, S3 included', () => {
    const { configMapGenerator } = Generators.parse(parse(textOf('k8s/base/kustomization.yaml')))
    const names = configMapGenerator.flatMap(({ literals }) => literals.map((one) => one.split('=')[0] ?? ''))
    expect(unknownVariables(names)).toEqual([])
    expect(names).toContain('REMORA_S3_ENDPOINT')
  })

  it('take a demand that is absent for unknown, and keep the workers that there are', () => {
    const { spec } = ScaledObject.parse(parse(textOf('k8s/keda/scaled-workers.yaml')))
    expect(spec.triggers.map(({ metadata }) => metadata.ignoreNullValues)).toEqual(['false'])
    expect(spec.fallback).toMatchObject({ behavior: 'currentReplicas' })
    // With 0 KEDA would scale to none.
    expect(spec.fallback.replicas).toBeGreaterThan(0)
  })

  it.skipIf(lacks('kubectl', 'kubernetes-validate'))('are what the schemas of Kubernetes ask for', () => {
    const built = (folder: string) =>
      execFileSync('kubectl', ['kustomize', `${infra}k8s/${folder}`], { encoding: 'utf8' })
    const { stdout, stderr } = spawnSync('kubernetes-validate', ['--strict', '--quiet', '-'], {
      input: built('base'),
      encoding: 'utf8',
    })
    expect(stdout + stderr).toBe('')
    expect(built('keda')).toContain('kind: ScaledObject')
    expect(built('prometheus')).toContain('kind: ServiceMonitor')
  })
})

describe('the unit for systemd in the guide', () => {
  const guide = readFileSync(fileURLToPath(new URL('../../docs/guide/deploy.md', import.meta.url)), 'utf8')
  const [, unit = ''] = /^```ini\n([^]*?)^```/m.exec(guide) ?? []

  it('sets only what Remora knows, and a home for its user', () => {
    const names = [...unit.matchAll(/^Environment=(\w+)=/gm)].map(([, name = '']) => name)
    expect(names).toContain('HOME')
    expect(unknownVariables(names)).toEqual([])
  })

  it.skipIf(lacks('systemd-analyze'))('is one that systemd takes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'remora-unit-'))
    const path = join(folder, 'remora@worker.service')
    const checkout = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
    writeFileSync(path, unit.replaceAll('/opt/remora', checkout))
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' })
    rmSync(folder, { recursive: true })
    const ofThisUnit = (stdout + stderr).split('\n').filter((line) => line.includes('remora@worker'))
    expect([status, ofThisUnit]).toEqual([0, []])
  })
})
