import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lastDocument, repository } from '../program.ts'
import { smallSource } from '../source-folder.ts'
import { useOneProcess, useSourceFolder } from '../use-services.ts'

const Accepted = z.object({ run_id: z.string() })
const Result = z.object({ result: z.looseObject({ run_id: z.string(), status: z.string() }) })

const folder = useSourceFolder(smallSource)
const services = useOneProcess()

const client = (args: readonly string[], token = services.token) =>
  services.remora(folder, args, { REMORA_TOKEN: token })

describe('the commands against a running service', () => {
  let runId = ''

  it('run goes from the folder to its patch, and starts nothing', async () => {
    const files = ['--out', 'x.patch', '--events-to', 'x.jsonl']
    const run = await client(['run', '.', '--agents', 'lint,docstring', '--json', ...files])
    expect(run.code, run.err).toBe(0)
    const { result } = Result.parse(lastDocument(run.out))
    expect(result.status).toBe('completed')
    runId = result.run_id
    const lines = (await readFile(join(folder.path, 'x.jsonl'), 'utf8')).trimEnd().split('\n')
    expect(run.out.trimEnd().split('\n').slice(0, -1)).toEqual(lines)
    expect(await readdir(folder.path)).not.toContain('.remora')
  })

  it('submit hands it in, watch follows it to its end', async () => {
    const submitted = await client(['submit', '.', '--agents', 'lint', '--json'])
    expect(submitted.code, submitted.err).toBe(0)
    const watched = await client(['watch', Accepted.parse(JSON.parse(submitted.out)).run_id])
    expect(watched.code, watched.err).toBe(0)
    expect(Result.parse(lastDocument(watched.out)).result.status).toBe('completed')
  })

  it('runs, show, diff, cancel, retry and run --resume know it', async () => {
    expect((await client(['runs'])).out).toContain(runId)
    expect((await client(['show', runId])).out).toMatch(/^status +completed$/m)
    const { nodes: count, code_nodes: nodes } = JSON.parse((await client(['show', runId, '--nodes', '--json'])).out)
    expect(nodes).toHaveLength(count)
    expect((await client(['show', runId, '--nodes'])).out).toContain(`\n${nodes[0].path}\n`)
    expect((await client(['show', runId, '--node', nodes[0].node_id])).out).toMatch(/^edges +\d+ out, \d+ in$/m)
    const inner = nodes.find((node: { kind: string }) => node.kind !== 'file')
    const named = JSON.parse(
      (await client(['show', runId, '--node', `${inner.path} ${inner.qualified_name}`, '--json'])).out,
    )
    expect([named.node_id, named.edge_list.length]).toEqual([inner.node_id, named.edges.out + named.edges.in])
    expect((await client(['show', runId, '--node', 'no.py f'])).err).toMatch(/RUN_004 .*remora show RUN --nodes/)
    expect((await client(['diff', runId])).out).toContain('not in self.items')
    expect(await client(['cancel', runId])).toMatchObject({ code: 1 })
    expect(await client(['run', '--resume', runId, '--out', 'again.patch'])).toMatchObject({ code: 0 })
    expect(await folder.read('again.patch')).toBe(await folder.read('x.patch'))
    expect((await client(['retry', runId])).err).toMatch(/INTAKE_007|RUN_/)
  })

  it('doctor looks at it, and needs no Redis here', async () => {
    const doctor = await client(['doctor'])
    expect(doctor.code).toBe(0)
    expect(doctor.out).toMatch(/^ok +api +http:\S+ answers, and knows the token$/m)
  })

  it('verify reports that it reads the stores themselves', async () => {
    expect((await client(['verify', runId])).err).toMatch(/CONFIG_001 .*REMORA_REDIS_URL/)
  })

  it('a wrong token is reported in one line, with what to set', async () => {
    for (const args of [['runs'], ['submit', '.', '--agents', 'lint'], ['watch', runId]]) {
      const refused = await client(args, 'wrong-token-of-mine')
      expect(refused).toMatchObject({ code: 1 })
      expect(refused.err).toMatch(/^remora: AUTH_001 [^\n]*REMORA_TOKEN[^\n]*\n$/)
    }
    expect((await client(['doctor'], 'wrong-token-of-mine')).out).toMatch(/^missing +api .*REMORA_TOKEN/m)
  })
})

describe('a reader that closes the pipe', () => {
  it.each(['', '2>&1'])('ends the command quietly (%s)', async (merged) => {
    const args = ['discover', join(repository, 'examples'), '--json', '--verbose'].join(' ')
    const line = `${process.execPath} ${repository}cli/remora.mjs ${args} ${merged} | head -c 20; echo " \${PIPESTATUS[0]}"`
    const shell = spawn('bash', ['-c', line], { stdio: ['ignore', 'pipe', 'pipe'] })
    const printed = { out: '', err: '' }
    shell.stdout.setEncoding('utf8').on('data', (text: string) => (printed.out += text))
    shell.stderr.setEncoding('utf8').on('data', (text: string) => (printed.err += text))
    await once(shell, 'close')
    expect(printed.err).toBe('')
    // Not 130: when the reader closes the pipe, the command only has its one write to finish.
    expect(printed.out).toBe('{"nodes":[{"node_id" 0\n')
  })
})
