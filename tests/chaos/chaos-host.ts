import { delay } from '#platform/clock.ts'
import type { Random } from '#platform/seeded-random.ts'
import type { FakeRepository } from '#testing/fake-github/host-repository.ts'
import type { Fault as HostFaultPlan } from '#testing/fake-github/network-faults.ts'
import { type FakeGitHub, startFakeGitHub } from '#testing/fake-github/start-fake-github.ts'
import type { Delivery } from '#testing/fake-github/webhooks.ts'
import { lacks } from '#testing/this-machine.ts'
import type { History, Merge } from './draw-history.ts'
import type { HostFault, HostOutage } from './fault.ts'

/** What was pushed in a history, and what became of its webhooks. */
export type HostTally = {
  pushes: number
  /** Pull requests of ours. */
  merges: number
  webhooks: number
  /** Those that found nobody who took them. */
  lost: number
  doubled: number
  late: number
  shuffled: number
  /** Of the publisher. */
  kills: number
}

/** The repository of a history, and the webhooks of the fake GitHub since it was made. */
export type PushedHistory = {
  repository: FakeRepository
  deliveries(): readonly Delivery[]
  /** Merges every open pull request. */
  merge(merge: Merge): Promise<void>
  tally(counts: Pick<HostTally, 'pushes' | 'kills'>): HostTally
}

export type ChaosHost = NonNullable<Awaited<ReturnType<typeof openChaosHost>>>

const owner = 'acme'
/** The shortest time that the setting takes. */
const pollS = 5

/** A fake GitHub with the App installed, which sends its webhooks to the API at this port. Undefined where there is no git. */
export async function openChaosHost(apiPort: number) {
  if (lacks('git')) return undefined
  const webhookUrl = `http://127.0.0.1:${apiPort}/webhooks/github`
  const github = await startFakeGitHub({ webhookUrl, rateLimit: 10_000_000 })
  const { app, apiUrl, webhooks, faults } = github
  let repositories = 0
  let shuffled = 0
  github.install({ account: owner })
  return {
    env: {
      api: { REMORA_GITHUB_WEBHOOK_SECRET: app.webhookSecret },
      publisher: {
        REMORA_GITHUB_APP_ID: String(app.id),
        REMORA_GITHUB_PRIVATE_KEY: app.privateKey,
        REMORA_GITHUB_API_URL: apiUrl,
        REMORA_GITHUB_POLL_S: String(pollS),
      },
    },
    inject: (fault: Exclude<HostFault, { kind: 'kill_publisher' }>, random: Random) =>
      inject(fault, { github, webhookUrl, random, onShuffled: (count) => (shuffled += count) }),
    /** Ends all faults. What was held back is sent. */
    repair(): void {
      webhooks.sendTo(webhookUrl)
      webhooks.release()
      webhooks.calm()
      faults.clear()
    },
    /** Makes the history's repository, and pushes to it at the times of `rest`. */
    async push(
      { source, repository: pushed, seed }: History,
      rest: (atMs: number) => Promise<void>,
    ): Promise<PushedHistory> {
      const settings = `github:\n  agents: [${pushed?.agents.join(', ') ?? ''}]\n  branches: ['**']\n  labels: [chaos]\n`
      const name = `history-${seed}-${++repositories}`
      const first = webhooks.deliveries.length
      shuffled = 0
      const repository = await github.addRepository({ owner, name, files: { ...source, 'remora.yaml': settings } })
      for (const { atMs, branch, files } of pushed?.pushes ?? []) {
        await rest(atMs)
        await repository.humanCommit(branch, files)
      }
      const deliveries = () => webhooks.deliveries.slice(first)
      let merges = 0
      return {
        repository,
        deliveries,
        async merge({ method, isMissed }) {
          webhooks.sendTo(isMissed ? undefined : webhookUrl)
          for (const { number, state } of repository.pulls()) {
            if (state !== 'open') continue
            await repository.mergePull(number, { method })
            merges++
          }
          webhooks.sendTo(webhookUrl)
        },
        tally: (counts) => ({ ...countWebhooks(deliveries()), ...counts, merges, shuffled }),
      }
    },
    /** What was asked, answered or sent that GitHub would not, since the last call. */
    takeViolations: () => github.takeViolations(),
    close: github.close,
  }
}

function countWebhooks(deliveries: readonly Delivery[]) {
  const count = (is: (one: Delivery) => boolean) => deliveries.filter(is).length
  return {
    webhooks: deliveries.length,
    lost: count(({ statusCode }) => statusCode >= 400),
    doubled: count(({ handling }) => handling === 'double'),
    late: count(({ handling }) => handling === 'delay'),
  }
}

type Injecting = { github: FakeGitHub; webhookUrl: string; random: Random; onShuffled(count: number): void }

async function inject(
  fault: Exclude<HostFault, { kind: 'kill_publisher' }>,
  { github: { webhooks, faults }, webhookUrl, random, onShuffled }: Injecting,
): Promise<string> {
  switch (fault.kind) {
    case 'lose_webhooks':
      webhooks.sendTo(undefined)
      await delay(fault.forMs)
      webhooks.sendTo(webhookUrl)
      return 'over'
    case 'double_webhooks':
      webhooks.double(fault.times)
      return 'set'
    case 'late_webhooks':
      webhooks.delay(fault.ms, fault.times)
      return 'set'
    case 'shuffle_webhooks': {
      let count = 0
      webhooks.hold()
      await delay(fault.forMs)
      webhooks.release((held) => {
        count = held.length
        return inAnyOrder(held, random)
      })
      onShuffled(count)
      return `${count} webhooks`
    }
    case 'github_away':
      faults.add({ ...outageOf(fault.how), times: Infinity })
      await delay(fault.forMs)
      faults.clear()
      return 'over'
  }
}

function outageOf(how: HostOutage): HostFaultPlan {
  return how === '503' ? { how: 'status', status: 503 } : { how }
}

function inAnyOrder<T>(list: readonly T[], random: Random): T[] {
  return list
    .map((one) => ({ one, at: random.fraction() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => one)
}
