import type { Rates } from './tally.ts'

/** What is counted of every prompt, with the head of its column. */
export const measures: readonly { key: Exclude<keyof Rates, 'requests' | 'parsedFromContent'>; head: string }[] = [
  { key: 'called', head: 'called' },
  { key: 'rightTool', head: 'right tool' },
  { key: 'rightArguments', head: 'right arguments' },
  { key: 'submitted', head: 'submitted' },
]
