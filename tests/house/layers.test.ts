import { describe, expect, it } from 'vitest'
import { layerViolations } from './layer-rules.ts'
import { filesMatching, readSource, readSources } from './source-files.ts'

const everyForm = `
import a, { type b } from 'one'
import type { c } from '#domain/ids.ts'
import 'three'
export * from './four.ts'
export type { d } from './five.ts'
export const e = await import('./six.ts')
export const g = [new URL('./eight.ts', import.meta.url), new URL('ten.ts', import.meta.url)]
const text = "import { x } from 'not-an-import'" // import y from 'nor-this'
`

/** A file that breaks a layer, and words of the reported sentence. */
const broken: [path: string, text: string, reason: string][] = [
  ['core/domain/run.ts', `import { readFileSync } from 'node:fs'`, 'knows only zod'],
  ['core/domain/run.ts', `import type { Clock } from '#platform/clock.ts'`, 'core/domain may not know core/platform'],
  ['core/ledger/attempt.ts', `import { putBlob } from '#objects/blobs.ts'`, 'core/ledger may not know core/objects'],
  ['core/objects/blobs.ts', `export type { Ledger } from '#ledger/ledger.ts'`, 'core/objects may not know core/ledger'],
  [
    'core/ledger/attempt.ts',
    `import { acceptRun } from '../../services/api/intake/accept-run.ts'`,
    'core never imports',
  ],
  ['core/ledger/attempt.ts', `import { until } from '#testing/until.ts'`, 'for tests only'],
  [
    'core/models/wire/plan-call.ts',
    `import { nothingProbed } from '../capabilities/probed-capabilities.ts'`,
    'wire comes before capabilities',
  ],
  [
    'core/models/http/fetch.ts',
    `import type { ModelPool } from '../model-pool.ts'`,
    'does not import what composes it',
  ],
  ['core/shiny/new.ts', `import { AppError } from '#domain/error.ts'`, 'not in the table'],
  ['core/ledger/attempt.ts', `import { AppError } from '../domain/error.ts'`, 'stay inside one folder'],
  ['core/ledger/attempt.ts', `import { Queue } from 'bullmq'`, 'only core/queues/ imports bullmq'],
  ['services/api/main.ts', `import OpenAI from 'openai'`, 'only core/models/ imports openai'],
  ['cli/stack/up.ts', `export const s3 = await import('@aws-sdk/client-s3')`, 'only core/objects/'],
  ['services/worker/tools/script.ts', `import type { Monty } from '@pydantic/monty'`, 'only core/tool-scripts/'],
  ['services/api/main.ts', `import { runAgent } from '../worker/agent/run-agent.ts'`, 'never import each other'],
  ['services/api/main.ts', `import { out } from '../../cli/output.ts'`, 'only core and itself'],
  [
    'services/api/schemas/run-schema.ts',
    `import { Composition } from '#objects/composition.ts'`,
    'only core/domain and zod',
  ],
  ['services/api/schemas/run-schema.ts', `import { z } from '@hono/zod-openapi'`, 'only core/domain and zod'],
  ['services/api/schemas/run-schema.ts', `import { isoTime } from '../http/schema-parts.ts'`, 'only core/domain'],
  ['services/worker/tools/a.ts', `import type { Loop } from '../agent/run-agent.ts'`, 'tools comes before agent'],
  ['services/worker/workspace/a.ts', `import { prove } from '../evidence/prove.ts'`, 'workspace comes before evidence'],
  [
    'services/worker/operation/a.ts',
    `import { compose } from '../composition/compose.ts'`,
    'operation comes before composition',
  ],
  ['services/worker/agent/a.ts', `import { config } from '../config.ts'`, 'what composes it'],
  ['cli/commands/show-command.ts', `import { openLedger } from '#ledger/ledger.ts'`, 'client of the HTTP API'],
  [
    'cli/commands/show-command.ts',
    `export const child = new URL('../../services/api/main.ts', import.meta.url)`,
    'client of the HTTP',
  ],
  ['cli/run/start.ts', `import { loadPacks } from '../../services/discovery/load-packs.ts'`, 'client of the HTTP'],
  ['cli/discover/nodes.ts', `import { openRun } from '../../services/api/open-run.ts'`, 'client of the HTTP'],
  ['cli/stack/up.ts', `import { takeSnapshot } from '../../services/discovery/snapshot/take.ts'`, 'client of the HTTP'],
]

/** Files that keep the layers. */
const allowed: [path: string, text: string][] = [
  ['core/domain/ids.ts', `import { randomBytes } from 'node:crypto'\nimport { z } from 'zod'`],
  ['core/bundles/load.ts', `import { check } from '#tool-scripts/check.ts'`],
  ['core/testing/open-test-ledger.ts', `import { openLedger } from '#ledger/ledger.ts'`],
  ['core/ledger/claim.test.ts', `import { until } from '#testing/until.ts'\nimport { put } from '#objects/blobs.ts'`],
  ['core/queues/producer.ts', `import { Queue } from 'bullmq'`],
  ['services/worker/agent/run-agent.ts', `import { tools } from '../tools/tools.ts'\nimport { a } from './a.ts'`],
  ['services/worker/worker-service.ts', `import { runOperation } from './operation/run-operation.ts'`],
  ['services/api/schemas/run-schema.ts', `import { z } from 'zod'\nimport { RunId } from '#domain/id-schemas.ts'`],
  ['cli/run/show.ts', `import type { RunView } from '#schemas/run-schema.ts'`],
  ['cli/stack/up.ts', `import { apiService } from '../../services/api/api-service.ts'`],
  ['cli/discover/nodes.ts', `import { loadPacks } from '../../services/discovery/load-packs.ts'`],
]

describe('layers', () => {
  const files = readSources()

  it('reads every form of import, and nothing that only looks like one', () => {
    const { imports } = readSource('core/a.ts', everyForm)
    expect(imports.map(({ target }) => target).toSorted()).toEqual([
      'core/domain/ids.ts',
      'core/eight.ts',
      'core/five.ts',
      'core/four.ts',
      'core/six.ts',
      'core/ten.ts',
      'one',
      'three',
    ])
  })

  it.each(broken)('refuses %s with %s', (path, text, reason) => {
    expect(layerViolations(readSource(path, text)).join('\n')).toContain(reason)
  })

  it.each(allowed)('takes %s with %s', (path, text) => {
    expect(layerViolations(readSource(path, text))).toEqual([])
  })

  it('are kept by every file', () => {
    expect(files.flatMap(({ imports }) => imports).length).toBeGreaterThan(files.length)
    expect(files.flatMap(layerViolations)).toEqual([])
  })

  it('need no Node where a client of the API has them: its schemas, and the part of the domain that they are made of', () => {
    const byPath = new Map(files.map((file) => [file.path, file]))
    const reached = new Set([...byPath.keys()].filter((path) => path.startsWith('services/api/schemas/')))
    for (const path of reached)
      for (const { target, isOurs } of byPath.get(path)?.imports ?? []) if (isOurs) reached.add(target)
    const packages = [...reached].flatMap((path) =>
      (byPath.get(path)?.imports ?? []).filter(({ isOurs }) => !isOurs).map(({ target }) => `${path} → ${target}`),
    )
    expect(packages.length).toBeGreaterThan(30)
    expect(packages.filter((one) => !one.endsWith(' → zod'))).toEqual([])
  })

  it('are named by paths that exist, with their ending', () => {
    const known = new Set(filesMatching('**/*.{ts,mjs,json}'))
    // The sample above is only text in this file.
    const missing = files
      .filter(({ path }) => !path.endsWith('layers.test.ts'))
      .flatMap(({ path, imports }) =>
        imports.filter(({ target, isOurs }) => isOurs && !known.has(target)).map(({ target }) => `${path} → ${target}`),
      )
    expect(missing).toEqual([])
  })
})
