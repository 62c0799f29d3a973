import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { startLocalRedis, type LocalRedis } from '#platform/local-redis.ts'
import { freePorts } from './this-machine.ts'
import { until } from './until.ts'

const slots = 16_384
const size = 3

export type TestRedisCluster = Awaited<ReturnType<typeof startRedisCluster>>

type Node = { port: number; busPort: number; place: Parameters<typeof startLocalRedis>[0]; server: LocalRedis }

/**
 * A cluster of three masters on this machine, a third of the slots each; resolves when it takes commands. One that is away for
 * `nodeTimeoutMs` takes the cluster with it; when it is back, the others believe so after twice that time.
 */
export async function startRedisCluster({ nodeTimeoutMs = 3_000 } = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'remora-redis-cluster-'))
  const nodes: Node[] = []
  const stop = async () => {
    await Promise.all(nodes.map(({ server }) => server.stop()))
    await rm(dir, { recursive: true, force: true })
  }
  try {
    const ports = await freePorts(2 * size)
    for (let index = 0; index < size; index += 1) {
      const [port = 0, busPort = 0] = ports.slice(2 * index)
      const settings = {
        'cluster-enabled': 'yes',
        'cluster-port': String(busPort),
        'cluster-node-timeout': `${nodeTimeoutMs}`,
      }
      const place = { env: process.env, dir: join(dir, String(port)), port, settings }
      nodes.push({ port, busPort, place, server: await startLocalRedis(place) })
    }
    await joinNodes(nodes)
  } catch (error) {
    await stop()
    throw error
  }
  /** Names all nodes, as REMORA_REDIS_URL. */
  const url = `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`
  /** Kills these nodes, calls `whileAway`, and starts them again with the data they had written. */
  const restart = async (nodeUrls: readonly string[], whileAway = async () => {}) => {
    const away = nodes.filter(({ server }) => nodeUrls.includes(server.url))
    for (const { server } of away) {
      process.kill(server.pid, 'SIGKILL')
      await server.stop()
    }
    try {
      await whileAway()
    } finally {
      for (const node of away) node.server = await startLocalRedis(node.place)
    }
  }
  return { url, nodeUrls: nodes.map(({ server }) => server.url), restart, stop }
}

async function joinNodes(nodes: readonly Node[]): Promise<void> {
  const clients = nodes.map(({ server }) => new Redis(server.url))
  try {
    for (const [index, client] of clients.entries()) {
      const [first, next] = [index, index + 1].map((part) => Math.ceil((part * slots) / size))
      await client.call('CLUSTER', 'ADDSLOTSRANGE', first ?? 0, (next ?? slots) - 1)
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
    }
    for (const { port, busPort } of nodes.slice(1)) {
      await clients[0]?.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort)
    }
    for (const client of clients) await until(() => client.cluster('INFO'), { holds: isWhole })
  } finally {
    for (const client of clients) client.disconnect()
  }
}

function isWhole(clusterInfo: string): boolean {
  return [`cluster_state:ok`, `cluster_slots_ok:${slots}`, `cluster_known_nodes:${size}`].every((line) =>
    clusterInfo.includes(line),
  )
}
