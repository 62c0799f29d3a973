import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { z } from 'zod'

// Machines of a network: namespaces of this machine, joined by a bridge. Needs root, and `ip`, `bridge` and `ss` of iproute2.

export type Machine = {
  name: string
  address: string
  /** Put before a command, it makes that run on the machine. */
  enter: readonly string[]
  /** Loses packets from now on, with no error for anybody, until the returned function is called. */
  cut(lost: Lost): Promise<() => Promise<void>>
  /** Whether connections from this address are of this machine. */
  isFrom(address: string): boolean
  /**
   * From now on nothing arrives that is sent to this machine's open connections, as when a firewall has forgotten them. New ones
   * work. Returns the address that the open ones come from.
   */
  loseConnections(): Promise<string>
  /** How many connections from this address its processes hold. */
  connectionsFrom(source: string): Promise<number>
  /** What `path` of a port of the machine answers it itself: its status. */
  askItself(port: number, path: string): Promise<number | undefined>
}

/** Which packets: those that the machine sends, those that are sent to it, or both. */
export type Lost = 'sent' | 'received' | 'both'

export type Machines = {
  /** Where the machines reach this process. */
  address: string
  named(name: string): Machine
  /** Packets lost by cuts so far. */
  lostPackets(): number
  close(): void
}

const execute = promisify(execFile)
const spaceName = /^remora-chaos-(\d+)-/
const linkName = /^rc(\d+)(br|w|h\d+)$/
/** So often may a machine lose its connections, less one. */
const mostSources = 40
/** Every machine's packets to this process go to the first, lost ones to the last, where nobody is. */
const macs = { host: '02:52:43:00:00:01', nobody: '02:52:43:00:00:fe' }
const macOf = (at: number) => `02:52:43:00:01:${(at + 1).toString(16).padStart(2, '0')}`

/** Why this process cannot make machines here; undefined when it can. */
export function lacksMachines(): string | undefined {
  if (process.getuid?.() !== 0) return 'it needs root, to make network namespaces'
  for (const program of ['ip', 'bridge', 'ss']) {
    if (spawnSync(program, ['-V']).status !== 0) return `it needs ${program} (Debian: iproute2)`
  }
  const probe = spaceOf('probe')
  const made = [
    ['netns', 'add', probe],
    ['-n', probe, 'link', 'add', 'veth0', 'type', 'veth', 'peer', 'name', 'veth1'],
  ].map((words) => spawnSync('ip', words, { encoding: 'utf8' }))
  spawnSync('ip', ['netns', 'del', probe])
  const failed = made.find(({ status }) => status !== 0)
  return failed && `network namespaces cannot be made here: ${failed.stderr.trim()}`
}

/**
 * Makes a machine for each name. What a process that has died left behind is removed first; what this one makes goes with
 * `close`, or at its exit.
 */
export async function openMachines(names: readonly string[]): Promise<Machines> {
  removeStale()
  const links = { bridge: `rc${process.pid}br`, well: `rc${process.pid}w` }
  const net = freeNet()
  const address = `${net}.1`
  const close = () => {
    process.removeListener('exit', close)
    removeAll((pid) => pid === process.pid)
  }
  process.once('exit', close)
  try {
    await ip(`link add ${links.bridge} address ${macs.host} type bridge`)
    await ip(`addr add ${address}/24 dev ${links.bridge}`)
    await joinBridge(links.bridge, links.bridge)
    await ip(`route add ${sourceNet(net)}.0/24 dev ${links.bridge}`)
    // Lost packets go here, and are counted.
    await ip(`link add ${links.well} type veth peer name rc${process.pid}h99`)
    await joinBridge(links.well, links.bridge)
    await ip(`link set rc${process.pid}h99 addrgenmode none up`)
    await execute('bridge', ['fdb', 'add', macs.nobody, 'dev', links.well, 'master', 'static'])
    const machines = new Map<string, Machine>()
    for (const [at, name] of names.entries()) {
      const place = { name, at, net, host: address, bridge: links.bridge }
      machines.set(name, await addMachine(place))
    }
    return { address, named: (name) => namedIn(machines, name), lostPackets: () => packetsTo(links.well), close }
  } catch (error) {
    close()
    throw error
  }
}

function namedIn(machines: ReadonlyMap<string, Machine>, name: string): Machine {
  const machine = machines.get(name)
  if (machine === undefined) throw new Error(`no machine is called "${name}"`)
  return machine
}

type Place = { name: string; at: number; net: string; host: string; bridge: string }

async function addMachine({ name, at, net, host, bridge }: Place): Promise<Machine> {
  const space = spaceOf(name)
  const address = `${net}.${10 + at}`
  const link = `rc${process.pid}h${at}`
  await ip(`netns add ${space}`)
  await ip(`link add ${link} type veth peer name eth0 address ${macOf(at)} netns ${space}`)
  await joinBridge(link, bridge)
  await ip(`-n ${space} link set lo up`)
  await ip(`-n ${space} addr add ${address}/24 dev eth0`)
  await ip(`-n ${space} link set eth0 addrgenmode none up`)
  const sends = (mac: string) => ip(`-n ${space} neigh replace ${host} lladdr ${mac} nud permanent dev eth0`)
  const reach = (to: string, mac: string) => ip(`neigh replace ${to} lladdr ${mac} nud permanent dev ${bridge}`)
  const sources: string[] = []
  const receives = async (mac: string) => {
    for (const to of [address, ...sources.slice(-1)]) await reach(to, mac)
  }
  const ways = { sent: openWay(sends, macs.host), received: openWay(receives, macOf(at)) }
  /** Its connections to others come from an address of their own, and those that it opens later from another. */
  const moveOn = async () => {
    if (sources.length === mostSources) throw new Error(`${name} has no address left`)
    const source = `${sourceNet(net)}.${at * mostSources + sources.length + 1}`
    await ip(`-n ${space} addr add ${source}/32 dev eth0`)
    sources.push(source)
    await ways.received.set()
    await ip(`-n ${space} route replace ${net}.0/24 dev eth0 proto kernel scope link src ${source}`)
  }
  await ways.sent.set()
  await moveOn()
  return {
    name,
    address,
    enter: ['ip', 'netns', 'exec', space],
    async cut(lost) {
      const cut = (['sent', 'received'] as const).filter((way) => lost === way || lost === 'both')
      await Promise.all(cut.map((way) => ways[way].cut()))
      return async () => void (await Promise.all(cut.map((way) => ways[way].mend())))
    },
    isFrom: (from) => sources.includes(from),
    async loseConnections() {
      const old = sources.at(-1) ?? ''
      await moveOn()
      await reach(old, macs.nobody)
      return old
    },
    async connectionsFrom(source) {
      const words = ['netns', 'exec', space, 'ss', '-Htn', 'state', 'established', 'src', source]
      const { stdout } = await execute('ip', words)
      return stdout.split('\n').filter((line) => line !== '').length
    },
    async askItself(port, path) {
      const ask = `exec 3<>/dev/tcp/127.0.0.1/${port}; printf 'GET ${path} HTTP/1.0\\r\\n\\r\\n' >&3; head -n 1 <&3`
      const words = ['netns', 'exec', space, 'timeout', '3', 'bash', '-c', ask]
      const { stdout } = await execute('ip', words).catch(() => ({ stdout: '' }))
      const status = /^HTTP\/1\.\d (\d+)/.exec(stdout)?.[1]
      return status === undefined ? undefined : Number(status)
    },
  }
}

/** One direction. Two cuts of it may overlap: it is mended with the last. */
function openWay(point: (mac: string) => Promise<void>, right: string) {
  let cuts = 0
  let last = Promise.resolve()
  // A packet for a wrong address is lost as on a cable that is cut: neither side gets an error, or notices otherwise.
  const set = () => (last = last.then(() => point(cuts > 0 ? macs.nobody : right)))
  return {
    set,
    cut() {
      cuts += 1
      return set()
    },
    mend() {
      cuts -= 1
      return set()
    },
  }
}

/** Without addresses of IPv6, whose own packets would count as lost ones. */
async function joinBridge(link: string, bridge: string): Promise<void> {
  if (link !== bridge) await ip(`link set ${link} master ${bridge}`)
  await ip(`link set ${link} addrgenmode none up`)
}

async function ip(words: string): Promise<void> {
  await execute('ip', words.split(' '))
}

const Named = z.array(z.looseObject({ ifname: z.string().optional(), name: z.string().optional() }))

function listed(words: readonly string[]): z.infer<typeof Named> {
  const { stdout } = spawnSync('ip', ['-j', ...words], { encoding: 'utf8' })
  return stdout.trim() === '' ? [] : Named.parse(JSON.parse(stdout))
}

function removeStale(): void {
  removeAll((pid) => pid !== process.pid && !isAlive(pid))
}

/** Works also while this process ends. Namespaces with a process in them vanish with it. */
function removeAll(isOf: (pid: number) => boolean): void {
  const links = listed(['link', 'show']).map(({ ifname = '' }) => ifname)
  for (const link of links) if (isOf(Number(linkName.exec(link)?.[1]))) spawnSync('ip', ['link', 'del', link])
  const spaces = listed(['netns', 'list']).map(({ name = '' }) => name)
  for (const space of spaces) if (isOf(Number(spaceName.exec(space)?.[1]))) spawnSync('ip', ['netns', 'del', space])
}

function isAlive(pid: number): boolean {
  if (Number.isNaN(pid)) return true // not one of ours
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A net that no link of this machine is in; which one is asked first depends on the process. */
function freeNet(): string {
  const { stdout } = spawnSync('ip', ['-o', '-4', 'addr'], { encoding: 'utf8' })
  const nets = Array.from({ length: 250 }, (_none, at) => `10.231.${(process.pid + at) % 250}`)
  const free = nets.find((net) => !stdout.includes(` ${net}.`))
  if (free === undefined) throw new Error('every net of 10.231.0.0/16 is in use')
  return free
}

/** The addresses that connections of the machines of this net come from. */
function sourceNet(net: string): string {
  return net.replace(/^10\.231\./, '10.232.')
}

function spaceOf(name: string): string {
  return `remora-chaos-${process.pid}-${name}`
}

function packetsTo(link: string): number {
  return Number(readFileSync(`/sys/class/net/${link}/statistics/tx_packets`, 'utf8'))
}
