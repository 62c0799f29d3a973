import type { ProbeFault, ProbeResult } from './run-probe.ts'

/** Faults of one kind: the first one's message, how many there were, and in how many agents. */
export type DistinctFault = ProbeFault & { count: number; agents: number }

const toldWords = 8

/** What went wrong, by code and by the first words of the message, figures aside; the most frequent first. */
export function distinctFaults(results: readonly ProbeResult[]): DistinctFault[] {
  const all = results.flatMap(({ faults }, agent) => faults.map((fault) => ({ ...fault, agent })))
  const alike = Map.groupBy(all, ({ code, message }) => `${code} ${firstWords(message)}`)
  return Array.from(alike.values(), (group) => {
    const [{ code, message } = { code: '', message: '' }] = group
    return { code, message, count: group.length, agents: new Set(group.map(({ agent }) => agent)).size }
  }).toSorted((one, other) => other.count - one.count)
}

function firstWords(message: string): string {
  return message.replaceAll(/\d+/g, '#').split(/\s+/).slice(0, toldWords).join(' ')
}
