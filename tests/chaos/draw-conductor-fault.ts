import type { Random } from '#platform/seeded-random.ts'

/** What goes wrong with who decides, in histories with objectives. */
export type ConductorFault =
  | { kind: 'kill_conductor'; conductor: number; backAfterMs: number }
  /** SIGSTOP until after its claim has run out, then SIGCONT: it commits what another has decided meanwhile. */
  | { kind: 'freeze_conductor'; conductor: number; forMs: number }
  /** What items have told that have ended comes once more, late; or not at all. */
  | { kind: 'double_messages'; run: number; forMs: number }
  | { kind: 'lose_messages'; run: number; forMs: number }
  /** Nobody is told that there is something to hear. */
  | { kind: 'lose_wakes'; forMs: number }
  /** Somebody adds to the objective, each time with the same key; it may come after the end. */
  | { kind: 'say'; run: number; times: number }
  /** Somebody asks about a run, each time with the same key, at any moment. */
  | { kind: 'ask'; run: number; times: number }

export const conductorFaultNames = [
  'kill_conductor',
  'freeze_conductor',
  'double_messages',
  'lose_messages',
  'lose_wakes',
  'say',
  'ask',
] as const satisfies readonly ConductorFault['kind'][]

export const conductorCount = 2

export function drawConductorFault(
  random: Random,
  { runs, leaseMs }: { runs: number; leaseMs: number },
): ConductorFault {
  const kind = random.pick<ConductorFault['kind']>(['kill_conductor', 'ask', ...conductorFaultNames])
  const conductor = random.int(0, conductorCount - 1)
  switch (kind) {
    case 'kill_conductor':
      return { kind, conductor, backAfterMs: random.int(0, 1_200) }
    case 'freeze_conductor':
      return { kind, conductor, forMs: leaseMs + random.int(200, 1_200) }
    case 'double_messages':
    case 'lose_messages':
      return { kind, run: random.int(0, runs - 1), forMs: random.int(2_000, 8_000) }
    case 'lose_wakes':
      return { kind, forMs: random.int(500, 4_000) }
    case 'say':
    case 'ask':
      return { kind, run: random.int(0, runs - 1), times: random.int(1, 3) }
  }
}
