import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openS3ObjectStore } from '#store/objects/s3-object-store.ts'
import { plantedSecrets, privateKey } from '#testing/planted-secrets.ts'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { repository } from '../program.ts'
import { sourceFolder, type SourceFolder } from '../source-folder.ts'
import { type OneProcess, startInOneProcess } from '../one-process.ts'
import { textOf } from '../../services/api/routes/events/event-frames.fixture.ts'

const modelKey = 'key-of-the-model-that-nobody-may-see'

/** Shows the source of its function wherever a tool can: in a question, in its answers, in what it learned and logs. */
const tellingAgent: Readonly<Record<string, string>> = {
  'agents/telling/bundle.yaml': `name: telling
description: Tell what is in a function.
node_kinds: [function]
languages: [python]
initial_context:
  system_prompt: "Tell what is in the function. Always respond with a tool call."
  node_context: "{{ qualified_name }} in {{ file_path }}:\\n{{ node_text }}"
tools:
  - { name: tell, script: tools/tell.pym, description: Tell what is in the function. }
  - { builtin: submit_result }
evidence: [parses]
limits: { max_turns: 3, answer_within_s: 600 }
`,
  'agents/telling/tools/tell.pym': `"""All that the file of the function has, told in every way there is."""
from typing import Any

from grail import Input, external

file_path: str = Input("file_path")
node_name: str = Input("node_name")
node_text: str = Input("node_text")


@external
async def read_file(path: str) -> str: ...


@external
async def write_file(path: str, content: str) -> dict[str, Any]: ...


@external
async def log(message: str) -> None: ...


@external
async def ask_user(question: str, choices: list[str] | None = None) -> str: ...


head = f"def {node_name}("
before = await read_file(file_path)
await log(before)
print(before)
said = await ask_user(f"Is this right?\\n{node_text}")
await write_file(file_path, before.replace(head, f"# {said}\\n{head}"))
answer = {
    "result": {"before": before, "said": said},
    "summary": f"{node_name} is {node_text}",
    "knowledge_delta": {"source": node_text, "all": [before]},
    "outcome": "success",
}
answer
`,
}

const functionOf = (code: string, at: number) => `def secret_${at}():\n    return ${code}\n`
const source = `import os\n\n\n${plantedSecrets.map(({ code }, at) => functionOf(code, at)).join('\n\n')}`
const inEnv = 'x7'.repeat(12)

const files = {
  ...tellingAgent,
  'remora.yaml': 'agents: { dir: agents }\n',
  'shop/keys.py': source,
  'README.md': plantedSecrets.map(({ code }) => code).join('\n\n'),
  '.env': `ONLY_IN_ENV=${inEnv}\n${plantedSecrets.map(({ code }, at) => `KEY_${at}=${code}`).join('\n')}\n`,
  'deploy/server.pem': privateKey.text,
}

const Questions = z.object({ questions: z.array(z.looseObject({ request_id: z.string(), status: z.string() })) })
const Page = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
const Nodes = z.looseObject({ nodes: z.array(z.looseObject({ node_id: z.string() })) })

describe('a run over a repository that holds secrets', () => {
  /** Everything that was shown, by where it was shown. */
  const shown = new Map<string, string>()
  let services: OneProcess
  let folder: SourceFolder
  let runId: string
  let patch: string

  beforeAll(async () => {
    folder = await sourceFolder(files)
    await cp(join(repository, 'agents'), join(folder.path, 'agents'), { recursive: true })
    const env = { REMORA_AGENTS_DIR: join(folder.path, 'agents'), REMORA_LOG_LEVEL: 'debug', REMORA_CONFIG: 'none' }
    services = await startInOneProcess({
      env: { ...env, REMORA_DISCOVERY_EXCLUDE: 'agents' },
      workerEnv: { REMORA_MODEL_API_KEY: modelKey },
    })
    runId = await services.api.submit(await folder.pack(), {
      agents: ['lint', 'docstring', 'telling'],
      languages: ['python'],
    })
    await answerAll()
    await services.api.follow(runId)
    patch = await (await services.api.ask(`/v1/runs/${runId}/patch`)).text()
    await showAll()
  }, 240_000)
  afterAll(async () => {
    await services.close()
    await folder.remove()
  })

  /** Each question asks about a function's source; the answer holds a secret, too. */
  async function answerAll(): Promise<void> {
    const questions = async () => {
      const answer = await services.api.ask(`/v1/runs/${runId}/questions`)
      const text = await answer.text()
      shown.set('questions', `${shown.get('questions') ?? ''}${text}`)
      return Questions.parse(JSON.parse(text)).questions.filter(({ status }) => status === 'open')
    }
    await until(questions, { holds: ({ length }) => length === plantedSecrets.length, withinMs: 120_000 })
    for (const { request_id: id } of await questions()) {
      const text = `yes, and my token is ${plantedSecrets[2]?.code ?? ''}`
      const answer = await services.api.ask(`/v1/runs/${runId}/questions/${id}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ answer: text }),
      })
      expect(answer.status, await answer.text()).toBe(200)
    }
  }

  /** Every GET route, for the run and each thing in it; the stream of events; what the command line prints; stores and logs. */
  async function showAll(): Promise<void> {
    await showRoutes()
    const stream = await services.api.ask(`/v1/runs/${runId}/events`, { headers: { accept: 'text/event-stream' } })
    shown.set('event stream', await stream.text())
    await showCommands()
    const redis = new Redis(services.stores.redisUrl)
    const streams = await Promise.all(
      ['remora:results', ...(await redis.keys('*events'))].map((key) => redis.xrange(key, '-', '+')),
    )
    shown.set('events and results in Redis', JSON.stringify(streams))
    await redis.quit()
    shown.set('logs', services.log.join(''))
  }

  async function showRoutes(): Promise<void> {
    const { paths } = Page.parse(await (await services.api.ask('/openapi.json')).json())
    const operations = await services.api.operations(runId)
    const { nodes } = Nodes.parse(await (await services.api.ask(`/v1/runs/${runId}/nodes`)).json())
    const values: Record<string, string[]> = {
      run_id: [runId],
      operation_id: operations.map((operation) => operation.operation_id),
      node_id: nodes.map((node) => node.node_id),
      request_id: ['q1', 'q2'],
    }
    const addresses = Object.keys(paths)
      .filter((path) => paths[path]?.['get'] !== undefined && !path.endsWith('/patch'))
      .flatMap((path) => filled(path, values))
    for (const address of addresses) {
      for (const accept of address.endsWith('/transcript')
        ? ['application/json', 'text/markdown']
        : ['application/json']) {
        const answer = await services.api.ask(`${address}${address === '/v1/events' ? '?after=0' : ''}`, {
          headers: { accept },
        })
        shown.set(`${accept} of ${address}`, await textOf(answer))
      }
    }
  }

  async function showCommands(): Promise<void> {
    const [operation] = (await services.api.operations(runId)).filter(({ agent }) => agent === 'telling')
    const id = operation?.operation_id ?? ''
    const calls = [
      ['runs'],
      ['show', runId],
      ['show', runId, '--operations', '--nodes', '--json'],
      ['watch', runId],
      ['answer', runId, '--json'],
      ['transcript', runId, id],
      ['transcript', runId, id, '--json'],
      ['diff', runId, id],
      ['diff', runId, id, '--json'],
      ['tool', 'run', 'agents/telling/tools/tell.pym', '--node', 'shop/keys.py:secret_0', '--answer', 'yes'],
      ['tool', 'run', 'agents/telling/tools/tell.pym', '--node', 'shop/keys.py:secret_0', '--answer', 'yes', '--json'],
    ]
    for (const args of calls) {
      const { out, err } = await services.remora(folder, args, { REMORA_CONFIG: 'none' })
      shown.set(`remora ${args.join(' ')}`, out + err)
      if (args[0] === 'diff' && args.length === 3) expect(err).toContain('this diff is to be read')
    }
  }

  it('shows none of them, anywhere', () => {
    expect(shown.size).toBeGreaterThan(60)
    const secrets = [
      ...plantedSecrets,
      { kind: 'key of the model', value: modelKey },
      { kind: 'in .env alone', value: inEnv },
    ]
    for (const [place, text] of shown) {
      expect(text.length, `${place} is empty`).toBeGreaterThan(0)
      for (const { kind, value } of secrets) expect(text.includes(value), `${kind} in ${place}`).toBe(false)
    }
  })

  it('shows that they are hidden, so that the run was over text that has them', () => {
    const places = ['event stream', 'questions', 'events and results in Redis', 'logs']
    for (const place of places) expect(shown.get(place), place).toContain('[secret]')
    const transcripts = [...shown].filter(([place, text]) => place.endsWith('/transcript') && text.includes('secret_'))
    expect(transcripts).toHaveLength(2 * 2 * plantedSecrets.length)
    for (const [place, text] of transcripts) expect(text, place).toContain('[secret]')
  })

  it.skipIf(lacks('git'))(
    'makes a patch that has their bytes and no mark, also of attempts that were resumed',
    async () => {
      expect(patch).not.toContain('[secret]')
      expect(patch).toContain(plantedSecrets[0]?.value)
      await folder.apply(patch)
      const after = await folder.read('shop/keys.py')
      for (const [at, { code }] of plantedSecrets.entries()) {
        expect(after).toContain(`# yes, and my token is ${plantedSecrets[2]?.code}\ndef secret_${at}():`)
        expect(after).toContain(`    return ${code}\n`)
      }
    },
  )

  it('keeps files that are secrets by their names out of its snapshot, and says so', async () => {
    const run = shown.get(`application/json of /v1/runs/${runId}`) ?? ''
    for (const path of ['.env', 'deploy/server.pem'])
      expect(run).toContain(`{"path":"${path}","reason":"a secret by its name"}`)
    const objects = openS3ObjectStore({ ...services.stores.s3, credentials: services.stores.s3 })
    try {
      const blobs = await Array.fromAsync(objects.list('projects/'))
      const stored = blobs.map(({ key }) => key).filter((key) => key.includes('/blobs/'))
      const texts = await Promise.all(stored.map(async (key) => Buffer.from(await objects.get(key)).toString()))
      expect(texts.filter((text) => text.includes(inEnv) || text === privateKey.text)).toEqual([])
      expect(texts.some((text) => text.includes(plantedSecrets[0]?.value ?? ''))).toBe(true)
    } finally {
      objects.close()
    }
  })
})

/** A path with every value of each of its parameters. */
function filled(path: string, values: Readonly<Record<string, readonly string[]>>): string[] {
  const name = /\{(\w+)\}/.exec(path)?.[1]
  if (name === undefined) return [path]
  return (values[name] ?? ['none']).flatMap((value) =>
    filled(path.replace(`{${name}}`, encodeURIComponent(value)), values),
  )
}
