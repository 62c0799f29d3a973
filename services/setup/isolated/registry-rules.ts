import { BlockList, isIP } from 'node:net'

/** Lists what a setup may reach: `host:port`, in small letters. Only an `internal` one may have a private address. */
export type RegistryRules = { registries: ReadonlySet<string>; internal: ReadonlySet<string> }

export function registryRules(registries: readonly string[], internal: readonly string[]): RegistryRules {
  const own = internal.map(placeOf)
  return { registries: new Set([...registries.map(placeOf), ...own]), internal: new Set(own) }
}

function placeOf(entry: string): string {
  if (/^https?:\/\//i.test(entry)) {
    const { hostname, port, protocol } = new URL(entry)
    return `${hostname}:${port || (protocol === 'http:' ? 80 : 443)}`
  }
  return (/:\d+$/.test(entry) ? entry : `${entry}:443`).toLowerCase()
}

/** Machines that are not of the Internet: a name that leads to one of them may be meant to reach what only this machine can. */
const notPublic = {
  ipv4: blockList(
    'ipv4',
    `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.88.99.0/24 192.168.0.0/16
    198.18.0.0/15 224.0.0.0/4 240.0.0.0/4`,
  ),
  // Within what is public at all: those that carry an address of IPv4 (Teredo, 6to4), and those that IANA keeps for itself or for examples.
  ipv6: blockList('ipv6', '2001::/23 2001:db8::/32 2002::/16 3fff::/20'),
}

/** Holds all that is routed on the Internet so far. Outside of it are all other ways to write an address of IPv4. */
const publicIpv6 = blockList('ipv6', '2000::/3')

function blockList(family: 'ipv4' | 'ipv6', ranges: string): BlockList {
  const list = new BlockList()
  for (const range of ranges.split(/\s+/)) {
    const [net = '', bits] = range.split('/')
    list.addSubnet(net, Number(bits), family)
  }
  return list
}

export type Lookup = (host: string) => Promise<readonly string[]>

export type Permission = { address: string } | { refusal: string }

/** Decides whether a setup may connect, and to which address: the checked one, wherever the name leads a moment later. */
export async function permitted(
  { host, port }: { host: string; port: number },
  { registries, internal }: RegistryRules,
  lookup: Lookup,
): Promise<Permission> {
  const name = host.toLowerCase().replace(/\.$/, '')
  const hostAndPort = `${name}:${port}`
  if (!registries.has(hostAndPort)) return { refusal: `port ${port} is not one of setup.registries` }
  const bare = bareName(host)
  const addresses = isIP(bare) === 0 ? await lookup(bare).catch(() => []) : [bare]
  const [address] = addresses
  if (address === undefined) return { refusal: 'has no address here' }
  const isOwn = internal.has(hostAndPort)
  const foreign = addresses.find((candidate) => !isOwn && isPrivate(candidate))
  if (foreign !== undefined)
    return { refusal: `has the address ${foreign}, which is of no public machine (setup.internal_registries)` }
  return { address }
}

function isPrivate(address: string): boolean {
  const version = isIP(address)
  if (version === 0) return true
  if (version === 4) return notPublic.ipv4.check(address, 'ipv4')
  return !publicIpv6.check(address, 'ipv6') || notPublic.ipv6.check(address, 'ipv6')
}

export function nameInTls(host: string): string | undefined {
  const name = bareName(host)
  return isIP(name) === 0 ? name : undefined
}

function bareName(host: string): string {
  return host
    .toLowerCase()
    .replace(/\.$/, '')
    .replaceAll(/^\[|\]$/g, '')
}
