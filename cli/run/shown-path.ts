import { relative } from 'node:path'

/** A path as a person in the folder `cwd` would write it: relative, unless it is elsewhere. */
export function shownPath(path: string, cwd: string): string {
  const shown = relative(cwd, path)
  return shown === '' || shown.startsWith('..') ? path : shown
}
