/** The places of the page; `seq` is an event of the timeline. They stand after the `#` of the address, so that the page works under any path. */
export type Route =
  | { page: 'runs' }
  | { page: 'submit' }
  | { page: 'run'; runId: string; tab: RunTab; seq?: number | undefined }
  | { page: 'operation'; runId: string; operationId: string }
  | { page: 'inbox' }
  | { page: 'agents' }
  | { page: 'fleet' }
  | { page: 'usage' }
  | { page: 'unknown'; path: string }

export const runTabs = ['overview', 'timeline', 'tree', 'operations', 'plan', 'review', 'questions'] as const
export type RunTab = (typeof runTabs)[number]

const simplePages = ['submit', 'inbox', 'agents', 'fleet', 'usage'] as const

/** Reads the fragment of an address, with or without its `#`. */
export function readRoute(fragment: string): Route {
  const path = fragment.replace(/^#/, '')
  const [first = '', second, third, fourth] = path
    .split('/')
    .filter((part) => part !== '')
    .map(decoded)
  const simple = simplePages.find((page) => page === first)
  if (first === '' || (first === 'runs' && second === undefined)) return { page: 'runs' }
  if (simple !== undefined && second === undefined) return { page: simple }
  if (first !== 'runs' || second === undefined) return { page: 'unknown', path }
  if (third === undefined) return { page: 'run', runId: second, tab: 'overview' }
  if (third === 'operations' && fourth !== undefined) return { page: 'operation', runId: second, operationId: fourth }
  const tab = runTabs.find((name) => name === third)
  if (tab === 'timeline' && fourth !== undefined && /^\d{1,12}$/.test(fourth))
    return { page: 'run', runId: second, tab, seq: Number(fourth) }
  return tab === undefined || fourth !== undefined ? { page: 'unknown', path } : { page: 'run', runId: second, tab }
}

/** Writes the address of a place, as a link has it. */
export function linkTo(route: Exclude<Route, { page: 'unknown' }>): string {
  switch (route.page) {
    case 'runs':
      return '#/runs'
    case 'run':
      return `#/runs/${[encodeURIComponent(route.runId), route.tab === 'overview' ? '' : route.tab, route.seq ?? ''].filter((part) => part !== '').join('/')}`
    case 'operation':
      return `#/runs/${encodeURIComponent(route.runId)}/operations/${encodeURIComponent(route.operationId)}`
    default:
      return `#/${route.page}`
  }
}

/** Decodes a part of an address; what is not encoded well stays as it is. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
