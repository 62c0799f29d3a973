import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import createClient from 'openapi-fetch'
import type { components, paths } from './remora.d.ts'

/**
 * node submit-run.ts ARCHIVE AGENT...
 *
 * Submits an archive, follows the run to its end and writes its patch to stdout. REMORA_API_URL and REMORA_TOKEN name the
 * service. docs/guide/clients.md says how remora.d.ts is made.
 */
type Schemas = components['schemas']

const endedStatuses: readonly Schemas['RunStatus'][] = ['completed', 'failed', 'cancelled']
const { REMORA_API_URL = 'http://127.0.0.1:8420', REMORA_TOKEN = '' } = process.env
/** Some answers have other forms, too, such as a stream of events: this client takes the JSON. */
const client = createClient<paths, 'application/json' | 'application/problem+json'>({
  baseUrl: REMORA_API_URL,
  headers: { authorization: `Bearer ${REMORA_TOKEN}` },
})

/** The answer, or an error that names the problem. */
function answerOf<T>({ data, error }: { data?: T; error?: Schemas['Problem'] }): T {
  if (error !== undefined) throw new Error(`${error.error_code}: ${error.detail}`)
  if (data === undefined) throw new Error('the answer is empty')
  return data
}

/** The part `request` comes before `archive`: the service stores the archive while it arrives. */
async function submitRun(file: string, request: Schemas['RunRequest']): Promise<string> {
  const archive = new Blob([await readFile(file)])
  const submitted = await client.POST('/v1/runs', {
    body: { request, archive: basename(file) },
    bodySerializer: (body) => {
      // The endpoint also takes JSON, which has a repository instead of an archive.
      if (!('archive' in body)) return JSON.stringify(body)
      const form = new FormData()
      form.set('request', new Blob([JSON.stringify(body.request)], { type: 'application/json' }))
      form.set('archive', archive, body.archive)
      return form
    },
  })
  return answerOf(submitted).run_id
}

/** Reads events until the run has ended; each request waits up to 10 s for the next one. */
async function followRun(runId: string): Promise<Schemas['Event'][]> {
  const events: Schemas['Event'][] = []
  for (let after = 0; ; ) {
    const query = { after, limit: 500, wait_ms: 10_000 }
    const page = answerOf(await client.GET('/v1/runs/{run_id}/events', { params: { path: { run_id: runId }, query } }))
    events.push(...page.events)
    after = page.next_after
    if (page.events.length === 0 && endedStatuses.includes(page.run_status)) return events
  }
}

async function listOperations(runId: string): Promise<Schemas['Operation'][]> {
  const operations: Schemas['Operation'][] = []
  for (let cursor: string | undefined; ; ) {
    const params = { path: { run_id: runId }, query: { limit: 2, ...(cursor === undefined ? {} : { cursor }) } }
    const page = answerOf(await client.GET('/v1/runs/{run_id}/operations', { params }))
    operations.push(...page.operations)
    if (page.next === null) return operations
    cursor = page.next
  }
}

async function readPatch(runId: string): Promise<string> {
  const params = { path: { run_id: runId } }
  const { data, error } = await client.GET('/v1/runs/{run_id}/patch', { params, parseAs: 'text' })
  return error === undefined ? (data ?? '') : answerOf<string>({ error })
}

async function main([file, ...agents]: readonly string[]): Promise<void> {
  if (file === undefined) throw new Error('usage: node submit-run.ts ARCHIVE AGENT...')
  const runId = await submitRun(file, { agents, error_policy: 'continue', labels: { client: 'submit-run' } })
  const events = await followRun(runId)
  const run = answerOf(await client.GET('/v1/runs/{run_id}', { params: { path: { run_id: runId } } }))
  const operations = await listOperations(runId)
  const failed = operations.filter(({ status }) => status === 'failed')
  console.error(`${run.status}: ${events.length} events, ${operations.length} operations, ${failed.length} failed`)
  for (const { node, outcome } of failed) {
    console.error(`${node.path} ${node.qualified_name}: ${outcome?.error_code} ${outcome?.reason}`)
  }
  process.stdout.write(await readPatch(runId))
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
