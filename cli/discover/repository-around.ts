import { access, realpath, stat } from 'node:fs/promises'
import { join, posix, relative, resolve, sep } from 'node:path'
import { AppError } from '#domain/error.ts'
import { faultOfGlobs } from '#domain/path-globs.ts'
import { isVendoredName } from '#domain/foreign-paths.ts'
import { ignoreAbove } from '#platform/git-ignore.ts'
import { kindOfFolder } from '#stages/discover/unwanted/unwanted-path.ts'
import type { CliContext } from '../cli-context.ts'
import { isNeverPacked } from '../pack-folder.ts'
import { visible } from '../terminal-text.ts'
import { shownPath } from '../wording.ts'
import type { Submission } from '../run/submit-source.ts'

/** A folder with one of these is a Python project, or one whose rules apply to several projects. */
const projectFiles = ['pyproject.toml', 'setup.py', 'setup.cfg', 'tox.ini', 'ruff.toml', '.ruff.toml', '.flake8']

/** `inside`: the folder that was named, as a path in `root`. */
type Around = { root: string; inside: string }

/**
 * Returns the outermost project around a folder in a git checkout: it may hold the rules for the folder, and files next to the folder
 * may use its names. Undefined outside of a checkout, for a folder that is itself that project, and for one that would not
 * be sent with the project, because git ignores it or its name is that of a vendored folder.
 */
async function repositoryAround(folder: string): Promise<Around | undefined> {
  const above = await ignoreAbove(folder)
  for (const root of above?.folders ?? []) {
    if (root === folder) return undefined
    if (!(await isProject(root))) continue
    const inside = relative(root, folder).split(sep).join(posix.sep)
    const isSent = !inside.split('/').some((name) => isVendoredName(name) || isNeverPacked(name) || isPassedOver(name))
    // A glob cannot name a folder with such signs in its name.
    return isSent && above?.isIgnored === false && !/[*?[\]{}\\!]/.test(inside) ? { root, inside } : undefined
  }
  return undefined
}

/** Is true when a run on the whole project skips folders of this name. When the user names such a folder, it is sent by itself. */
function isPassedOver(name: string): boolean {
  return name.startsWith('.') || kindOfFolder(name) !== undefined
}

async function isProject(folder: string): Promise<boolean> {
  const present = await Promise.all(projectFiles.map((name) => access(join(folder, name)).then(isThere, isMissing)))
  return present.includes(true)
}

const isThere = () => true
const isMissing = () => false

/** Names what is sent, and what of it is worked on. */
export type Source = { path: string; submission: Submission }

/**
 * Sends a part of a project with the whole project, and works only on the part: without the files around it, their rules and
 * the uses of its names would not be known. Prints that on stderr. `folderOnly` sends only the folder. INTAKE_008 for an
 * invalid glob.
 */
export async function withRepository(
  { path, submission }: Source,
  { cwd, io }: { cwd: string; io: Pick<CliContext['io'], 'err'> },
): Promise<Source> {
  const { paths, exclude, since } = submission
  // Checked before the folder's path is put in front of them.
  const fault = faultOfGlobs([...(paths ?? []), ...(exclude ?? [])])
  if (fault !== undefined) throw new AppError('INTAKE_008', fault)
  // An earlier copy of the folder is compared with the folder, not with the project around it.
  const isCompared = since !== undefined && (await stat(resolve(cwd, since)).then(isThere, isMissing))
  const around = submission.folderOnly === true || isCompared ? undefined : await aroundPath(resolve(cwd, path))
  if (around === undefined) return { path, submission }
  const { root, inside } = around
  const insideRoot = (glob: string) => posix.join(inside, glob)
  io.err(visible(`${inside} is worked on; ${shownPath(root, cwd)} is sent, for its rules and what uses the folder\n`))
  return {
    path: root,
    submission: {
      ...submission,
      paths: paths === undefined || paths.length === 0 ? [inside] : paths.map(insideRoot),
      ...(exclude && { exclude: exclude.map(insideRoot) }),
    },
  }
}

/** Finds the folder that the patch of a run on `path` applies to: the repository around it if that was sent. */
export async function patchedFolder(
  path: string,
  { paths = [] }: { paths?: readonly string[] | undefined },
): Promise<string> {
  const around = await aroundPath(path)
  if (around === undefined || paths.length === 0) return path
  const { root, inside } = around
  return paths.every((glob) => glob === inside || glob.startsWith(`${inside}/`)) ? root : path
}

async function aroundPath(path: string): Promise<Around | undefined> {
  const stats = await stat(path).catch(() => undefined)
  return stats?.isDirectory() === true ? repositoryAround(await realpath(path)) : undefined
}
