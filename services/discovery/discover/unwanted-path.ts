/** Folders that only ever hold other people's code or compiled copies of one's own. */
const vendoredNames: ReadonlySet<string> = new Set([
  'node_modules',
  'bower_components',
  'jspm_packages',
  'site-packages',
  'dist-packages',
  '__pycache__',
])

/** Files that prove the folder they lie in to be vendored, whatever its name: `venv` and `vendor` may be one's own. */
const vendoringMarks: readonly string[] = ['pyvenv.cfg', 'vendor/modules.txt', 'vendor/autoload.php']

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
  if (vendoredNames.has(name) || marked) return 'vendored'
  return unwantedFile(name)
}

/** The folder that the file at `path` proves to be vendored, if it is such a mark. */
export function vendoredFolder(path: string): string | undefined {
  const mark = vendoringMarks.find((name) => path.endsWith(`/${name}`) || path === name)
  return mark === undefined || !path.includes('/') ? undefined : path.slice(0, path.lastIndexOf('/'))
}

function unwantedFile(name: string): string | undefined {
  return name.startsWith('.') ? 'hidden' : undefined
}
