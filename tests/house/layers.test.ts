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
  ['domain/run.ts', `import { readFileSync } from 'node:fs'`, 'knows only zod'],
  ['domain/run.ts', `import type { Clock } from '#platform/clock.ts'`, 'domain may not know platform'],
  ['platform/log.ts', `import { runSettings } from '#settings/run-settings.ts'`, 'platform may not know settings'],
  [
    'store/ledger/attempt.ts',
    `import { putBlob } from '#store/objects/blobs.ts'`,
    'store/ledger may not know store/objects',
  ],
  ['store/ledger/attempt.ts', `import { acceptRun } from '#stages/intake/accept-run.ts'`, 'may not know stages/intake'],
  ['stages/plan/a.ts', `import { runAgent } from '#stages/operate/agent/run-agent.ts'`, 'may not know stages/operate'],
  ['stages/operate/a.ts', `import { push } from '#code-hosts/git-remote.ts'`, 'may not know code-hosts'],
  [
    'store/ledger/attempt.ts',
    `import { config } from '../../services/api/api-config.ts'`,
    'never imports what is built on it',
  ],
  ['store/ledger/attempt.ts', `import { draw } from '#testing/fast-check.ts'`, 'for tests only'],
  [
    'models/wire/plan-call.ts',
    `import { nothingProbed } from '../capabilities/probed-capabilities.ts'`,
    'wire comes before capabilities',
  ],
  ['models/http/fetch.ts', `import type { ModelPool } from '../model-pool.ts'`, 'does not import what composes it'],
  ['client/connection.ts', `import { AppError } from '#domain/error.ts'`, 'only types of the wire'],
  ['dashboard/core/a.ts', `import { openLog } from '#platform/log.ts'`, 'runs in browsers'],
  ['dashboard/core/a.ts', `import { openLedger } from '#store/ledger/ledger.ts'`, 'may not know store/ledger'],
  ['client/connection.ts', `import { delay } from 'node:timers/promises'`, 'runs in browsers'],
  ['shiny/new.ts', `import { AppError } from '#domain/error.ts'`, 'not in the table'],
  ['store/ledger/attempt.ts', `import { AppError } from '../../domain/error.ts'`, 'stay inside one room'],
  ['store/ledger/attempt.ts', `import { Queue } from 'bullmq'`, 'only store/queues/ imports bullmq'],
  ['services/api/main.ts', `import OpenAI from 'openai'`, 'only models/ imports openai'],
  ['cli/stack/up.ts', `export const s3 = await import('@aws-sdk/client-s3')`, 'only store/objects/'],
  ['stages/operate/tools/script.ts', `import type { Monty } from '@pydantic/monty'`, 'only tool-scripts/'],
  ['services/api/main.ts', `import { openWorker } from '../worker/worker-service.ts'`, 'never import each other'],
  [
    'services/api/main.ts',
    `import { runAgent } from '#stages/operate/agent/run-agent.ts'`,
    'does not run the stage operate',
  ],
  ['services/api/main.ts', `import { out } from '../../cli/output.ts'`, 'never imports what is built on it'],
  [
    'services/api/main.ts',
    `import { writePull } from '#stages/publish/pulls/write-pull.ts'`,
    'only the publisher writes',
  ],
  [
    'services/api/schemas/run-schema.ts',
    `import { Composition } from '#store/objects/composition.ts'`,
    'only domain and zod',
  ],
  ['services/api/schemas/run-schema.ts', `import { z } from '@hono/zod-openapi'`, 'only domain and zod'],
  ['services/api/schemas/run-schema.ts', `import { isoTime } from '../http/schema-parts.ts'`, 'only domain'],
  ['stages/operate/tools/a.ts', `import type { Loop } from '../agent/run-agent.ts'`, 'tools comes before agent'],
  ['stages/operate/workspace/a.ts', `import { prove } from '../evidence/prove.ts'`, 'workspace comes before evidence'],
  ['stages/operate/agent/a.ts', `import { runOperation } from '../run-operation.ts'`, 'what composes it'],
  [
    'stages/operate/agent/a.ts',
    `import { lint } from '#agents/lint/host/externals.ts'`,
    'only the table of its reader',
  ],
  ['services/api/main.ts', `import { lintFaults } from '#agents/lint/host/survey.ts'`, 'only the table of its reader'],
  [
    'agents/lint/host/survey.ts',
    `import { lintNode } from '#stages/operate/tools/lint/lint-node.ts'`,
    'its reader alone',
  ],
  ['agents/lint/host/survey/lint-work.ts', `import { fix } from '../externals.ts'`, 'its reader alone'],
  [
    'agents/lint/host/externals.ts',
    `import { runAgent } from '#stages/operate/agent/run-agent.ts'`,
    'its reader alone',
  ],
  ['agents/lint/host/externals.ts', `import { text } from '#agents/test/host/externals.ts'`, 'its reader alone'],
  ['cli/commands/show-command.ts', `import { openLedger } from '#store/ledger/ledger.ts'`, 'client of the HTTP API'],
  [
    'cli/commands/show-command.ts',
    `export const child = new URL('../../services/api/main.ts', import.meta.url)`,
    'client of the HTTP',
  ],
  ['cli/run/start.ts', `import { loadPacks } from '../../services/discovery/load-packs.ts'`, 'client of the HTTP'],
  ['cli/discover/nodes.ts', `import { openRun } from '../../services/api/open-run.ts'`, 'client of the HTTP'],
  ['cli/stack/up.ts', `import { takeSnapshot } from '#stages/snapshot/take-snapshot.ts'`, 'client of the HTTP'],
]

/** Files that keep the layers. */
const allowed: [path: string, text: string][] = [
  ['domain/ids.ts', `import { randomBytes } from 'node:crypto'\nimport { z } from 'zod'`],
  ['bundles/load.ts', `import { check } from '#tool-scripts/check.ts'`],
  ['testing/open-test-ledger.ts', `import { openLedger } from '#store/ledger/ledger.ts'`],
  [
    'store/ledger/claim.test.ts',
    `import { draw } from '#testing/fast-check.ts'\nimport { put } from '#store/objects/blobs.ts'`,
  ],
  ['store/queues/producer.ts', `import { Queue } from 'bullmq'`],
  ['stages/operate/agent/run-agent.ts', `import { tools } from '../tools/tools.ts'\nimport { a } from './a.ts'`],
  ['services/worker/worker-service.ts', `import { runOperation } from '#stages/operate/run-operation.ts'`],
  ['services/api/schemas/run-schema.ts', `import { z } from 'zod'\nimport { RunId } from '#domain/id-schemas.ts'`],
  ['stages/intake/run-request.ts', `import { RunRequestBody } from '#schemas/run-request-schema.ts'`],
  ['services/rehearsal/next-move.ts', `import { lint } from '#agents/lint/host/rehearsal.ts'`],
  ['agents/test/host/externals.ts', `import { text } from '#stages/operate/tools/externals/external-arguments.ts'`],
  ['client/wire.ts', `import type { RunView } from '#schemas/run-schema.ts'`],
  ['cli/run/show.ts', `import type { RunView } from '#schemas/run-schema.ts'`],
  ['cli/stack/up.ts', `import { apiService } from '../../services/api/api-service.ts'`],
  ['cli/discover/nodes.ts', `import { loadPacks } from '../../services/discovery/load-packs.ts'`],
]

/** What a service must never reach, however many imports lie between: a folder of ours, or a package. */
const unreachable: [service: string, what: string][] = [
  ['api', 'web-tree-sitter'],
  ['api', '@pydantic/monty'],
  ['worker', 'code-hosts/'],
  ['worker', '@octokit/core'],
  ['conductor', 'code-hosts/'],
  ['conductor', 'web-tree-sitter'],
  ['conductor', '@pydantic/monty'],
  ['watcher', 'code-hosts/'],
  ['watcher', 'web-tree-sitter'],
  ['watcher', '@pydantic/monty'],
  ['setup', 'code-hosts/'],
  ['discovery', '@octokit/auth-app'],
  ['discovery', 'openai'],
  ['publisher', 'web-tree-sitter'],
]

describe('layers', () => {
  const files = readSources()

  it('reads every form of import, and nothing that only looks like one', () => {
    const { imports } = readSource('platform/a.ts', everyForm)
    expect(imports.map(({ target }) => target).toSorted()).toEqual([
      'domain/ids.ts',
      'one',
      'platform/eight.ts',
      'platform/five.ts',
      'platform/four.ts',
      'platform/six.ts',
      'platform/ten.ts',
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

  const byPath = new Map(files.map((file) => [file.path, file]))
  /** Lists `file → package` and `file → file` for all that is reached from these files. */
  const reachedFrom = (roots: readonly string[]) => {
    const reached = new Set(roots)
    const edges: { path: string; target: string; isOurs: boolean }[] = []
    for (const path of reached)
      for (const { target, isOurs } of byPath.get(path)?.imports ?? []) {
        edges.push({ path, target, isOurs })
        if (isOurs) reached.add(target)
      }
    return edges
  }

  it('need no Node where a client of the API has them: its schemas, and the part of the domain that they are made of', () => {
    const schemas = [...byPath.keys()].filter((path) => path.startsWith('services/api/schemas/'))
    const packages = reachedFrom(schemas).filter(({ isOurs }) => !isOurs)
    expect(packages.length).toBeGreaterThan(30)
    expect(packages.filter(({ target }) => target !== 'zod')).toEqual([])
  })

  it.each(unreachable)('keep from the service %s: %s', (service, what) => {
    const edges = reachedFrom([`services/${service}/main.ts`])
    expect(edges.length).toBeGreaterThan(50)
    expect(edges.filter(({ target }) => target === what || (what.endsWith('/') && target.startsWith(what)))).toEqual([])
  })

  it('are named by paths that exist, with their ending', () => {
    const known = new Set(filesMatching('**/*.{ts,tsx,mjs,json}'))
    // The sample above is only text in this file.
    const missing = files
      .filter(({ path }) => !path.endsWith('layers.test.ts'))
      .flatMap(({ path, imports }) =>
        imports.filter(({ target, isOurs }) => isOurs && !known.has(target)).map(({ target }) => `${path} → ${target}`),
      )
    expect(missing).toEqual([])
  })
})
