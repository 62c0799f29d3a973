import { isVendoredName, vendoredFolder } from '#domain/vendored-path.ts'

/** Said of names with a leading dot: nobody expects to find them worked on. */
export const hiddenReason = 'hidden'

export type UnwantedPath = { path: string; reason: string }

/**
 * Judges paths of one tree by their names: the outermost folder (or the file) that discovery passes over, and why.
 * `paths` are all paths of the tree, so that a virtual environment is known by what lies in it.
 */
export function pathJudge(paths: Iterable<string>): (path: string) => UnwantedPath | undefined {
  const marked = new Set<string>()
  for (const path of paths) {
    const folder = vendoredFolder(path)
    if (folder !== undefined) marked.add(folder)
  }
  return (path) => {
    const segments = path.split('/')
    for (const [index, segment] of segments.entries()) {
      const prefix = segments.slice(0, index + 1).join('/')
      const reason = index < segments.length - 1 ? unwantedFolder(segment, marked.has(prefix)) : unwantedFile(segment)
      if (reason !== undefined) return { path: prefix, reason }
    }
    return undefined
  }
}

/** Why a folder of this name is passed over, or undefined. `marked`: a file in it proves it to be vendored. */
export function unwantedFolder(name: string, marked: boolean): string | undefined {
  if (isVendoredName(name) || marked) return 'vendored'
  return unwantedFile(name)
}

function unwantedFile(name: string): string | undefined {
  return name.startsWith('.') ? hiddenReason : undefined
}
