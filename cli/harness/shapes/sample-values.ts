import type { Random } from '#platform/seeded-random.ts'

const folders = ['src', 'lib', 'tools', 'app/core', 'packages/shop'] as const
const stems = [
  'invoice',
  'customer',
  'stock_level',
  'price_table',
  'session',
  'router',
  'mail_queue',
  'report',
] as const
const endings = ['py', 'ts', 'go', 'rs', 'md'] as const
const labels = ['bug', 'docs', 'urgent', 'backend', 'help wanted', 'refactor', 'good first issue', 'security'] as const
const hosts = ['alpha', 'bravo', 'delta', 'kilo', 'sierra', 'tango'] as const

export function samplePath(random: Random): string {
  return `${random.pick(folders)}/${random.pick(stems)}_${random.int(1, 99)}.${random.pick(endings)}`
}

export function sampleSymbol(random: Random): string {
  return `${random.pick(stems)}_${random.pick(['total', 'count', 'loader', 'by_id'])}_${random.int(1, 99)}`
}

/** Two to four different ones. */
export function sampleLabels(random: Random): string[] {
  const left = [...labels]
  return Array.from({ length: random.int(2, 4) }, () => left.splice(random.int(0, left.length - 1), 1)).flat()
}

export function sampleHost(random: Random): string {
  return `${random.pick(hosts)}-${random.int(1, 40)}`
}
