import { errorPolicies } from '#domain/error.ts'
import { bundleReference } from './bundle-reference.ts'
import { configReference } from './config-reference.ts'
import { eventsReference } from './events-reference.ts'
import { metricsReference } from './metrics-reference.ts'

/** The generated pages of docs/reference; archives.md is written by hand. */
export const references = {
  bundle: bundleReference,
  config: configReference,
  errors: errorReference,
  events: eventsReference,
  metrics: metricsReference,
} as const

/** The text of docs/reference/errors.md, made from the table every error comes from. */
function errorReference(): string {
  const rows = Object.entries(errorPolicies).map(
    ([code, { meaning, status }]) => `| ${code} | ${meaning} | ${status} |`,
  )
  const retried = Object.entries(errorPolicies).flatMap(([code, { retry }]) => (retry ? [code] : []))
  return [
    '# Errors',
    '',
    'Every error keeps its code and phase from where it is raised to the event, the operation, the API and the command',
    `line. The same work may succeed when it is tried again after ${retried.join(', ')}.`,
    'Made from `domain/error.ts` by `node scripts/write-reference.ts`.',
    '',
    '| code | meaning | HTTP status |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}
