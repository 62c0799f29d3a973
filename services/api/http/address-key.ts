import { isIPv6 } from 'node:net'

/**
 * What the requests of an address are counted under: an IPv4 address itself, also where it comes as an IPv6 one
 * (`::ffff:192.0.2.1`); of any other IPv6 address its /64, since whoever has one has all 2⁶⁴ of it (RFC 6177).
 */
export function addressKey(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const before = groupsOf(head)
  const after = groupsOf(tail ?? '')
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  const first = [...before, ...Array<number>(zeros).fill(0), ...after].slice(0, 4)
  return `${first.map((group) => group.toString(16)).join(':')}::/64`
}

/** An IPv4 address at the end stands for two groups, whose values do not matter here. */
function groupsOf(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => (group.includes('.') ? [0, 0] : [Number.parseInt(group, 16)]))
}
