import { RunId } from './id-schemas.ts'

/** The submodule folders that a .gitmodules file in `folder` names ('' is the root); paths outside of it are ignored. */
export function submodulePaths(folder: string, text: string): string[] {
  const paths: string[] = []
  for (const line of text.split('\n')) {
    const [, quoted, plain] = /^\s*path\s*=\s*(?:"([^"]*)"|([^#;]*))/.exec(line) ?? []
    const segments = (quoted ?? plain ?? '').trim().split('/')
    const path = segments.filter((segment) => segment !== '' && segment !== '.').join('/')
    if (path === '' || segments.includes('..')) continue
    paths.push(folder === '' ? path : `${folder}/${path}`)
  }
  return paths
}

/** Matches the stack's data folders, access and lock files, and patches of default names, also partly written ones. */
const ownNames =
  /^\.remora(?:-stores)?$|^stack-access\.json|^stack\.(?:lock|log)$|^\.remora-[^/]*\.part$|^remora-(.+)\.patch$/

/** Is true when a file or folder of this name is Remora's own state or result, and so never part of a repository. */
export function isOwnOutput(name: string): boolean {
  const match = ownNames.exec(name)
  if (match === null) return false
  const [, runId] = match
  return runId === undefined || RunId.safeParse(runId).success
}

/** Folders that only hold other people's code or compiled copies. */
const vendoredNames: ReadonlySet<string> = new Set([
  'node_modules',
  'bower_components',
  'jspm_packages',
  'site-packages',
  'dist-packages',
  '__pycache__',
])

/** Files that prove their folder to be vendored, whatever its name: `venv` and `vendor` may also hold the project's own code. */
const vendoringMarks: readonly string[] = ['pyvenv.cfg', 'vendor/modules.txt', 'vendor/autoload.php']

export function isVendoredName(name: string): boolean {
  return vendoredNames.has(name)
}

/** The folder that the file at `path` proves to be vendored, if any. */
export function vendoredFolder(path: string): string | undefined {
  const mark = vendoringMarks.find((name) => path.endsWith(`/${name}`) || path === name)
  return mark === undefined || !path.includes('/') ? undefined : path.slice(0, path.lastIndexOf('/'))
}
