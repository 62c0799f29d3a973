import { delay } from '#platform/clock.ts'
import { until } from '#testing/until.ts'
import { type Machine, type Machines, openMachines } from './machines.ts'
import { leaseMs, type NetworkFault } from './fault.ts'
import { type NetworkRelay, openNetworkRelay } from './network-relay.ts'
import type { ServiceProcess } from './service-process.ts'

/** The network between services on machines of their own, and the stores and models, which are on this one. */
export type ChaosNetwork = {
  machine(name: string): Machine
  /** The URL by which machines reach the server of this URL of 127.0.0.1. */
  open(url: string): Promise<string>
  /** Injects the fault, and resolves when it is over with what it affected: "could not …" when it affected the wrong thing. */
  inject(fault: NetworkFault, service: ServiceProcess): Promise<string>
  /**
   * Waits until no service holds to a connection that went silent, and removes what is left of them. Returns the violations:
   * what a service would have held to for ever.
   */
  settle(): Promise<string[]>
  /** What the faults did since the last call. */
  takeTally(): NetworkTally
  close(): Promise<void>
}

export type NetworkTally = {
  lostPackets: number
  latePieces: number
  lostConnections: number
  /** Services that were cut off longer than their lease, and were asked after that whether they are ready. */
  asked: number
  /** How long the slowest service needed from the end of its cut until it was ready, in ms. */
  slowestBackMs: number
}

/** From the end of the runs. Longer than the minute that a transfer to the object store may stand still. */
const noticedWithinMs = 75_000

export async function openChaosNetwork(names: readonly string[]): Promise<ChaosNetwork> {
  const machines = await openMachines(names)
  const relays: NetworkRelay[] = []
  const counts = { lostConnections: 0, asked: 0, slowestBackMs: 0 }
  const before = { lostPackets: 0, latePieces: 0 }
  const delays = new Map<Machine, number>()
  const delayOf = (from: string) => [...delays].find(([machine]) => machine.isFrom(from))?.[1] ?? 0
  /** Addresses whose connections went silent. */
  const silent = new Map<string, Machine>()
  return {
    machine: machines.named,
    async open(url) {
      const target = new URL(url)
      const relay = await openNetworkRelay({ host: machines.address, target: Number(target.port), delayOf })
      relays.push(relay)
      target.hostname = machines.address
      target.port = String(relay.port)
      return target.href.replace(/\/$/, '')
    },
    async inject(fault, service) {
      const machine = machines.named(service.name)
      if (fault.kind === 'delay') {
        delays.set(machine, fault.ms)
        await delay(fault.forMs)
        delays.delete(machine)
        return 'over'
      }
      if (fault.kind === 'lose_connections') {
        const source = await machine.loseConnections()
        silent.set(source, machine)
        const lost = await machine.connectionsFrom(source)
        counts.lostConnections += lost
        return `${lost} connections`
      }
      return cutOff(fault, { machine, machines, service, counts })
    },
    async settle() {
      const held = async () => {
        const perAddress = [...silent].map(async ([source, machine]) => {
          const count = await machine.connectionsFrom(source)
          return count === 0 ? [] : [`${machine.name} still holds ${count} connections that went silent`]
        })
        return (await Promise.all(perAddress)).flat()
      }
      await until(held, { holds: ({ length }) => length === 0, withinMs: noticedWithinMs }).catch(() => {})
      const left = await held()
      for (const address of silent.keys()) for (const relay of relays) relay.closeFrom(address)
      silent.clear()
      return left
    },
    takeTally() {
      const now = { lostPackets: machines.lostPackets(), latePieces: sum(relays.map((relay) => relay.late())) }
      const { lostPackets, latePieces } = before
      const tally = { lostPackets: now.lostPackets - lostPackets, latePieces: now.latePieces - latePieces, ...counts }
      Object.assign(before, now)
      Object.assign(counts, { lostConnections: 0, asked: 0, slowestBackMs: 0 })
      return tally
    },
    async close() {
      await Promise.all(relays.map((relay) => relay.close()))
      machines.close()
    },
  }
}

type Cut = Extract<NetworkFault, { kind: 'cut' | 'half_cut' }>
type CutDeps = {
  machine: Machine
  machines: Machines
  service: ServiceProcess
  counts: { asked: number; slowestBackMs: number }
}

/** After its lease a service that is cut off must not be ready, as it says itself; afterwards it must become so again. */
async function cutOff(fault: Cut, { machine, machines, service, counts }: CutDeps): Promise<string> {
  const before = machines.lostPackets()
  const startedBefore = service.starts()
  const mend = await machine.cut(fault.kind === 'cut' ? 'both' : fault.lost)
  const beginMs = Math.min(fault.forMs, leaseMs)
  await delay(beginMs)
  const asks = fault.forMs > leaseMs && service.running()
  const status = asks ? await machine.askItself(service.port, '/readyz') : undefined
  if (status !== undefined) counts.asked += 1
  await delay(fault.forMs - beginMs)
  await mend()
  const lost = `${machines.lostPackets() - before} packets lost`
  if (status === 200) return `could not be noticed: ${service.name} was still ready after ${beginMs} ms`
  const endedAt = performance.now()
  // One that is killed or restarted meanwhile shows nothing.
  if (!service.running()) return `${lost}, then it was down`
  await service.ready().catch(() => undefined)
  const backMs = Math.round(performance.now() - endedAt)
  if (service.starts() !== startedBefore || !service.running()) return `${lost}, restarted meanwhile`
  counts.slowestBackMs = Math.max(counts.slowestBackMs, backMs)
  return `${lost}, ready ${backMs} ms after its end`
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
