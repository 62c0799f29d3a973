import { access, realpath, stat } from 'node:fs/promises'
import { join, posix, relative, resolve, sep } from 'node:path'
import { AppError } from '#domain/error.ts'
import { faultOfGlobs } from '#domain/path-globs.ts'
import { isVendoredName } from '#domain/vendored-path.ts'
import { ignoreAbove } from '#platform/git-ignore.ts'
import { kindOfFolder } from '../../services/discovery/discover/unwanted/unwanted-names.ts'
import type { CliContext } from '../cli-context.ts'
import { isNeverPacked } from '../list-folder.ts'
import { visible } from '../visible.ts'
import { shownPath } from '../run/shown-path.ts'
import type { Submission } from '../run/submit-source.ts'

/** By one of these the folder of a Python project is known, or one whose rules hold for several. */
const projectFiles = ['pyproject.toml', 'setup.py', 'setup.cfg', 'tox.ini', 'ruff.toml', '.ruff.toml', '.flake8']

/** `inside`: the folder that was asked for, as a path in `root`. */
type Around = { root: string; inside: string }

/**
 * The outermost project that a folder of a git checkout lies in: the rules for the folder may stand there, and files beside it may
 * use its names. Undefined outside of a checkout, for a folder that is that project itself, and for one that would not be
 * sent with it, since git ignores it or its name is that of a vendored folder.
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

/** Whether a run on the whole project skips folders of this name. When the user names such a folder, it is sent by itself. */
function isPassedOver(name: string): boolean {
  return name.startsWith('.') || kindOfFolder(name) !== undefined
}

async function isProject(folder: string): Promise<boolean> {
  const found = await Promise.all(projectFiles.map((name) => access(join(folder, name)).then(isThere, isMissing)))
  return found.includes(true)
}

const isThere = () => true
const isMissing = () => false

/** What is sent, and what of it is worked on. */
export type Source = { path: string; submission: Submission }

/**
 * A part of a project is sent with the whole of it, and only the part is worked on: without the files around it neither their
 * rules nor who uses its names would be known. Says so on stderr. `folderOnly` leaves it at the folder.
 */
export async function withRepository(
  { path, submission }: Source,
  { cwd, io }: { cwd: string; io: Pick<CliContext['io'], 'err'> },
): Promise<Source> {
  const { paths, exclude, since } = submission
  requireGlobs([...(paths ?? []), ...(exclude ?? [])])
  // An earlier copy of the folder is compared with the folder, not with what is around it.
  const isCompared = since !== undefined && (await stat(resolve(cwd, since)).then(isThere, isMissing))
  const around = submission.folderOnly === true || isCompared ? undefined : await aroundPath(resolve(cwd, path))
  if (around === undefined) return { path, submission }
  const { root, inside } = around
  const place = (glob: string) => posix.join(inside, glob)
  io.err(visible(`${inside} is worked on; ${shownPath(root, cwd)} is sent, for its rules and what uses the folder\n`))
  return {
    path: root,
    submission: {
      ...submission,
      paths: paths === undefined || paths.length === 0 ? [inside] : paths.map(place),
      ...(exclude && { exclude: exclude.map(place) }),
    },
  }
}

/** What is no glob of the folder is no glob of the repository around it either. INTAKE_008. */
function requireGlobs(globs: readonly string[]): void {
  const fault = faultOfGlobs(globs)
  if (fault !== undefined) throw new AppError('INTAKE_008', fault)
}

/**
 * Where the patch of an earlier run on `path` applies: in the repository around, where the run was limited to `path` in it,
 * else in `path` itself.
 */
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
