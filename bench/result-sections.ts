/** The benches of `npm run bench`, in the order of RESULTS.md. */
export const benches = [
  'operation',
  'discovery',
  'ledger',
  'loop',
  'pool',
  'utilisation',
  'memory',
  'archives',
  'fairness',
  'python-agreement',
  'scripts',
  'repositories',
] as const

/** The sections of RESULTS.md before the records of chaos: those of the benches, and two that others write. */
export const resultSections: readonly string[] = [...benches, 'real-servers', 'bare-machine']
