import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openRandom } from '#platform/seeded-random.ts'
import { testSeed } from '#testing/fast-check.ts'
import type { FakeRepository } from '#testing/fake-github/host-repository.ts'
import type { Moment } from '#testing/fake-github/network-faults.ts'
import { openResendProxy, type ResendProxy } from '#testing/resend-proxy.ts'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { startWithGitHub } from '../github-host.ts'
import { openPrograms } from '../program.ts'

// A kill takes some seconds: the publisher starts again, and what the dead one had taken has to be silent for the lease.
const leaseMs = 1_000
/** At which commands to Redis it is killed: drawn of each kind of command with this chance. */
const share = Number(process.env['REMORA_TEST_KILL_SHARE'] ?? 0.15)
const withinMs = 240_000

const count = 'def count(items: list) -> int:\n    return len(items)\n'
const triple = '\n\ndef triple(number: int) -> int:\n    return number * 3\n'
const settings = 'github:\n  agents: [docstring]\n  labels: [remora]\n  reviewers: [ada]\n'
const documentedCount = `def count(items: list) -> int:
    """Count \`items\`.

    Args:
        items (list): The value of items.

    Returns:
        int: The result.
    """
    return len(items)
`
const documentedTriple = `\n
def triple(number: int) -> int:
    """Return the result of \`triple\`.

    Args:
        number (int): The value of number.

    Returns:
        int: The result.
    """
    return number * 3
`

const Handled = z.looseObject({
  deliveries: z.array(
    z.looseObject({ delivery_id: z.string(), repository: z.string().nullable(), ref: z.string().nullable() }),
  ),
})

describe.skipIf(lacks('git'))('a publisher that is killed with kill -9', { timeout: 2 * withinMs }, () => {
  const programs = openPrograms()
  const open: { proxy?: ResendProxy } = {}
  let host: Awaited<ReturnType<typeof startWithGitHub>>
  let killer: ReturnType<typeof openKiller>
  beforeAll(async () => {
    const redisOf = async (redisUrl: string) => (open.proxy = await openResendProxy(redisUrl)).url
    host = await startWithGitHub(programs, { env: { REMORA_LEASE_MS: String(leaseMs) }, redisOf })
    host.github.install({ account: 'acme' })
    killer = openKiller(host.services)
  })
  afterAll(async () => {
    await programs.end()
    await open.proxy?.close()
    await host.stop()
  })

  const addRepository = (name: string) =>
    host.github.addRepository({ owner: 'acme', name, files: { 'README.md': '# Shop\n', 'remora.yaml': settings } })

  async function expectPublished(repository: FakeRepository, commits: readonly string[], text: string): Promise<void> {
    for (const commit of commits) await host.checked(repository, commit, withinMs)
    await killer.ready()
    expect(await repository.branches()).toEqual(['main', 'remora/main'])
    const pull = { number: 1, state: 'open', labels: ['remora'], reviewers: ['ada'], base: { sha: commits.at(-1) } }
    expect(repository.pulls()).toMatchObject([pull])
    expect(repository.checkRuns().map(({ headSha }) => headSha)).toEqual(commits)
    expect(repository.comments()).toEqual([])
    expect(await repository.commits('main..remora/main')).toHaveLength(1)
    expect(await repository.git(['diff', '--name-only', 'main', 'remora/main'])).toBe('stock.py')
    expect(await repository.read('remora/main', 'stock.py')).toBe(text)
    await until(() => pushesHandled(repository), { holds: ({ length }) => length >= commits.length })
    expect(await pushesHandled(repository)).toHaveLength(commits.length)
  }

  /** The pushes of this repository whose webhooks were handled; one that was handled twice is there twice. */
  async function pushesHandled({ fullName }: FakeRepository): Promise<string[]> {
    const answer = await host.services.api.ask('/v1/github/deliveries?limit=100&ignored=show')
    const { deliveries } = Handled.parse(await answer.json())
    const ours = deliveries.filter((one) => one.repository === fullName && one.ref === 'refs/heads/main')
    return ours.map((one) => one.delivery_id)
  }

  /** Kills it once at each kind of write to GitHub: before its effect, which it then has not, or when nobody knows of it. */
  function killAtWrites(when: Moment['when'], { but = /^$/ } = {}): void {
    const met = new Set<string>()
    host.github.watch(({ method, path, when: now }) => {
      const what = `${method} ${path.replaceAll(/\b(?:[0-9a-f]{40}|\d+)\b/g, '*')}`
      if (method === 'GET' || now !== when || met.has(what) || but.test(what)) return
      if (!killer.kill(`${when} ${what}`)) return
      met.add(what)
      if (when === 'before') throw new Error('nobody asks any more')
    })
  }

  it('publishes once, dying after the effect of each of its writes, and for the next push before each', async () => {
    const repository = await addRepository('shop')
    killAtWrites('after')
    const first = await repository.humanCommit('main', { 'stock.py': count })
    await expectPublished(repository, [first], documentedCount)
    // Before the others there is nothing that was not there after the one before.
    killAtWrites('before', { but: /access_tokens$|trees$|commits$/ })
    const second = await repository.humanCommit('main', { 'stock.py': count + triple })
    await expectPublished(repository, [first, second], documentedCount + documentedTriple)
    const killed = await killer.stop()
    host.github.watch(() => {})
    const made = ['git/trees', 'git/commits', 'graphql', 'pulls', 'labels', 'requested_reviewers', 'check-runs']
    for (const path of made) expect(killed).toContainEqual(expect.stringMatching(`^after POST .*/${path}$`))
    expect(killed).toContainEqual('before POST /graphql')
    expect(killed).toContainEqual(expect.stringMatching(/^before PATCH .*\/pulls\//))
  })

  it('publishes once, dying after commands to Redis whose answers it never gets', async () => {
    const random = openRandom(testSeed)
    const met = new Set<string>()
    open.proxy?.watch({
      cutWhen(words) {
        const what = kindOf(words)
        if (what === undefined || met.has(what) || !killer.isUp()) return false
        met.add(what)
        return random.chance(share)
      },
      onLost: () => void killer.kill('after a command to Redis'),
    })
    const repository = await addRepository('stock')
    const commit = await repository.humanCommit('main', { 'stock.py': count })
    await expectPublished(repository, [commit], documentedCount)
    const kills = await killer.stop()
    open.proxy?.watch()
    process.stdout.write(`killed at ${kills.length} of ${met.size} commands to Redis: REMORA_TEST_SEED=${testSeed}\n`)
  })
})

function openKiller(services: Awaited<ReturnType<typeof startWithGitHub>>['services']) {
  const kills: string[] = []
  let publisher = services.named('publisher')
  let starting: Promise<void> | undefined
  let isOver = false
  const startAgain = async () => {
    await publisher.exited
    publisher = await services.startAgain('publisher')
    starting = undefined
  }
  return {
    isUp: () => starting === undefined,
    /** False: it is dead already. */
    kill(what: string): boolean {
      if (starting !== undefined || isOver) return false
      kills.push(what)
      publisher.kill('SIGKILL')
      starting = startAgain()
      return true
    },
    ready: async () => starting,
    /** It lives from now on, until the next call of \`kill\`. Returns when it was killed. */
    async stop(): Promise<string[]> {
      isOver = true
      await starting
      isOver = false
      return kills.splice(0)
    },
  }
}

/** Commands that change something, xreadgroup among them: what it brings is taken. */
const writes = new Set(['eval', 'evalsha', 'exec', 'hset', 'set', 'xreadgroup', 'zadd', 'zrem'])

/** The command, or its script, with the first key. Undefined: it changes nothing. */
function kindOf([name = '', first = '', , key = '']: readonly string[]): string | undefined {
  const command = name.toLowerCase()
  if (!writes.has(command)) return undefined
  if (!command.startsWith('eval')) return `${command} ${keyOf(first)}`
  const script = command === 'eval' ? createHash('sha1').update(first).digest('hex') : first
  return `script ${script.slice(0, 8)} ${keyOf(key)}`
}

/** Without ids of runs and repositories, and days. */
function keyOf(key: string): string {
  return key.replaceAll(/\br0[a-z0-9]{16,}|\b\d[\d-]*\b/g, '*')
}
