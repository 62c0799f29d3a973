import { describe, expect, it } from 'vitest'
import { layerViolations } from './layer-rules.ts'
import { parseSource } from './parse-source.ts'
import { repositoryHas, resolveImport } from './resolve-import.ts'
import { parseRepository } from './source-files.ts'

const everyForm = `
import a, { type b } from 'one'
import type { c } from '#domain/ids.ts'
import 'three'
export * from './four.ts'
export type { d } from './five.ts'
export const e = await import('./six.ts')
export type F = import('./seven.ts').F
export const g = [new URL('./eight.ts', import.meta.url), new URL('ten.ts', import.meta.url)]
export const h = import.meta.resolve('nine')
export const i = await import(a + '.ts')
const text = "import { x } from 'not-an-import'" // import y from 'nor-this'
`

/** A file that breaks a layer, and words of the sentence that says so. */
const broken: [path: string, text: string, reason: string][] = [
  ['core/domain/run.ts', `import { readFileSync } from 'node:fs'`, 'knows only zod'],
  ['core/domain/run.ts', `import type { Clock } from '#platform/clock.ts'`, 'core/domain may not know core/platform'],
  ['core/ledger/claim.ts', `import { putBlob } from '#objects/blobs.ts'`, 'core/ledger may not know core/objects'],
  [
    'core/objects/blobs.ts',
    `export type L = import('#ledger/ledger.ts').Ledger`,
    'core/objects may not know core/ledger',
  ],
  ['core/ledger/claim.ts', `import { acceptRun } from '../../services/api/intake/accept-run.ts'`, 'core never imports'],
  ['core/ledger/claim.ts', `import { until } from '#testing/until.ts'`, 'for tests only'],
  ['core/models/wire/plan-call.ts', `import { noFindings } from '../servers/findings.ts'`, 'wire comes before servers'],
  [
    'core/models/http/fetch.ts',
    `import type { ModelPool } from '../model-pool.ts'`,
    'does not import what composes it',
  ],
  ['core/shiny/new.ts', `import { AppError } from '#domain/error.ts'`, 'not in the table'],
  ['core/ledger/claim.ts', `import { AppError } from '../domain/error.ts'`, 'stay inside one folder'],
  ['core/ledger/claim.ts', `import { Queue } from 'bullmq'`, 'only core/queues/ imports bullmq'],
  ['services/api/main.ts', `import OpenAI from 'openai'`, 'only core/models/ imports openai'],
  ['cli/stack/up.ts', `export const s3 = await import('@aws-sdk/client-s3')`, 'only core/objects/'],
  ['services/worker/tools/script.ts', `import type { Monty } from '@pydantic/monty'`, 'only core/tool-scripts/'],
  ['services/api/main.ts', `import { runAgent } from '../worker/agent/run-agent.ts'`, 'never import each other'],
  ['services/api/main.ts', `import { out } from '../../cli/output.ts'`, 'only core and itself'],
  ['services/worker/tools/a.ts', `import type { Loop } from '../agent/run-agent.ts'`, 'tools comes before agent'],
  ['services/worker/workspace/a.ts', `import { prove } from '../evidence/prove.ts'`, 'workspace comes before evidence'],
  [
    'services/worker/operation/a.ts',
    `import { compose } from '../composition/compose.ts'`,
    'operation comes before composition',
  ],
  ['services/worker/agent/a.ts', `import { config } from '../config.ts'`, 'what composes it'],
  ['services/worker/agent/a.ts', `export const a = (b: string) => import(b)`, 'plain string'],
  ['cli/commands/show.ts', `import { openLedger } from '#ledger/ledger.ts'`, 'client of the HTTP API'],
  [
    'cli/commands/show.ts',
    `export const child = new URL('../../services/api/main.ts', import.meta.url)`,
    'client of the HTTP',
  ],
  ['services/api/config.ts', `export const port = process.env['PORT']`, 'process.env'],
  ['core/platform/env.ts', `export const { env } = process`, 'process.env'],
  ['core/platform/env.ts', `import { env } from 'node:process'`, 'process.env'],
  ['core/platform/env.ts', `export const all = globalThis.process['env']`, 'process.env'],
]

/** Files that keep the layers. */
const allowed: [path: string, text: string][] = [
  ['core/domain/ids.ts', `import { randomBytes } from 'node:crypto'\nimport { z } from 'zod'`],
  ['core/bundles/load.ts', `import { check } from '#tool-scripts/check.ts'`],
  [
    'core/testing/factories.ts',
    `import { openLedger } from '#ledger/ledger.ts'\nexport const home = process.env['HOME']`,
  ],
  ['core/ledger/claim.test.ts', `import { until } from '#testing/until.ts'\nimport { put } from '#objects/blobs.ts'`],
  ['core/queues/producer.ts', `import { Queue } from 'bullmq'`],
  ['services/worker/agent/run-agent.ts', `import { tools } from '../tools/tools.ts'\nimport { a } from './a.ts'`],
  ['services/worker/worker-service.ts', `import { runOperation } from './operation/run-operation.ts'`],
  ['services/api/main.ts', `export const port = process.env['PORT']`],
  ['cli/stack/up.ts', `import { apiService } from '../../services/api/api-service.ts'`],
]

describe('layers', () => {
  const files = parseRepository()

  it('reads every form of import, and nothing that only looks like one', () => {
    const { imports } = parseSource('a.ts', everyForm)
    expect(imports.map(({ kind, specifier }) => `${kind} ${specifier}`).toSorted()).toEqual([
      'computed ',
      'dynamic ./six.ts',
      'static ./four.ts',
      'static one',
      'static three',
      'type #domain/ids.ts',
      'type ./five.ts',
      'type ./seven.ts',
      'url ./eight.ts',
      'url ./ten.ts',
      'url nine',
    ])
  })

  it.each(broken)('refuses %s with %s', (path, text, reason) => {
    expect(layerViolations(parseSource(path, text)).join('\n')).toContain(reason)
  })

  it.each(allowed)('takes %s with %s', (path, text) => {
    expect(layerViolations(parseSource(path, text))).toEqual([])
  })

  it('finds our own imports', () => {
    const imports = files.flatMap((file) => file.imports)
    expect(files.length).toBeGreaterThan(20)
    expect(imports.length).toBeGreaterThan(files.length)
  })

  it('are kept by every file', () => {
    expect(files.flatMap(layerViolations)).toEqual([])
  })

  it('are named by paths that exist, with their ending', () => {
    const missing = files.flatMap((file) =>
      file.imports.flatMap(({ kind, specifier, line }) => {
        if (kind === 'computed') return []
        const target = resolveImport(file.path, specifier)
        return target.kind !== 'file' || repositoryHas(target.path) ? [] : [`${file.path}:${line} → ${target.path}`]
      }),
    )
    expect(missing).toEqual([])
  })
})
