import { execFileSync } from 'node:child_process'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { getNodeSelection } from '#store/objects/node-selection.ts'
import { discoverFolder } from '#stages/discover/discover-folder.ts'
import { defaultSnapshotLimits } from '#stages/snapshot/snapshot-limits.ts'
import { takeSnapshot } from '#stages/snapshot/take-snapshot.ts'
import { useServedApi } from './served-api.fixture.ts'

const served = useServedApi()
let folder = ''
let stderr = ''

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=n@e', ...args], { cwd: folder, stdio: 'pipe' })

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'remora-submit-'))
  await writeFile(join(folder, 'a.py'), 'def same():\n    return 1\n\n\ndef other():\n    return 2\n')
  await writeFile(join(folder, 'b.py'), 'def moved():\n    return 3\n')
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
  return () => rm(folder, { recursive: true, force: true })
})

/** Answers the accepted run. */
async function submit(...options: string[]) {
  const given = { cwd: folder, env: { HOME: folder } }
  const { out, err } = await served.remoraWith(given, 'submit', '.', '--agents', 'lint', ...options)
  stderr = err
  return served.api.ledger.getRun(out.trim())
}

async function namesOf({ request }: Awaited<ReturnType<typeof submit>>): Promise<string[]> {
  const selected = await getNodeSelection(served.api.blobs, served.api.project, request.nodes?.hash ?? '')
  const { nodes } = await discoverFolder(folder, {}, AbortSignal.timeout(30_000))
  const names = nodes.filter(({ nodeId }) => selected.has(nodeId)).map(({ qualifiedName }) => qualifiedName)
  expect(names).toHaveLength(selected.size)
  return names
}

describe('remora submit', () => {
  it('sends the files, languages and kinds that a run is to be limited to', async () => {
    const run = await submit('--exclude', 'vendor', '*.txt', '--languages', 'python,go', '--kinds', 'function')
    expect(run.request).toMatchObject({
      exclude: ['vendor', '*.txt'],
      languages: ['python', 'go'],
      nodeKinds: ['function'],
    })
    expect(run.request.nodes).toBeUndefined()
  })

  it('limits a run to the nodes added or changed since a revision, without those that only moved', async () => {
    await writeFile(join(folder, 'a.py'), 'def same():\n    return 1\n\n\ndef other():\n    return 4\n')
    await writeFile(join(folder, 'new.py'), 'def fresh():\n    return 5\n')
    await rename(join(folder, 'b.py'), join(folder, 'c.py'))
    const run = await submit('--since', 'HEAD')
    expect(await namesOf(run)).toEqual(['a.py', 'other', 'new.py', 'fresh'])
    expect(stderr).toContain('since HEAD: 4 nodes in 2 files added or changed\n')
    expect(await namesOf(await submit('--since', 'HEAD', '--kinds', 'function'))).toEqual(['other', 'fresh'])
  })

  it('sends the names of the files that it leaves out, so that the run lists them with the reason', async () => {
    const secrets = Array.from({ length: 12 }, (_, at) => `${at}.pem`)
    for (const name of [...secrets, 'odd\n.pem']) await writeFile(join(folder, name), 'x')
    const run = await submit()
    expect(stderr).toMatch(/^not sent: 13\n {2}0\.pem {2}a secret by its name\n/)
    expect(stderr).toMatch(
      / {2}… and 3 more: remora discover \S+ lists all\nfollow it: remora watch \S+; look at its changes: remora review \S+\n$/,
    )
    const { snapshotId } = await takeSnapshot(
      run,
      { ...served.api, limits: defaultSnapshotLimits },
      AbortSignal.timeout(20_000),
    )
    const to = { from: [{ status: 'queued' }], to: {}, command: 'snapshot', set: { snapshotId }, events: [] } as const
    await served.api.ledger.move(run.runId, to)
    const view: unknown = await (await served.api.ask(`/v1/runs/${run.runId}`)).json()
    const files = secrets.toSorted().map((path) => ({ path, reason: 'a secret by its name' }))
    expect(view).toMatchObject({ skipped: 12, skipped_files: files })
  })
})
