import { access, realpath, stat } from 'node:fs/promises'
import { join, posix, relative, resolve, sep } from 'node:path'
import { isVendoredName } from '#domain/vendored-path.ts'
import { ignoreAbove } from '#platform/git-ignore.ts'
import type { CliContext } from '../cli-context.ts'
import { isNeverPacked } from '../list-folder.ts'
import { visible } from '../visible.ts'
import { shownPath } from './shown-path.ts'
import type { Submission } from './submit-source.ts'

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
    const isSent = !inside.split('/').some((name) => isVendoredName(name) || isNeverPacked(name))
    // A glob cannot name a folder with such signs in its name.
    return isSent && above?.isIgnored === false && !/[*?[\]{}\\!]/.test(inside) ? { root, inside } : undefined
  }
  return undefined
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
export async function withRepository({ path, submission }: Source, { cwd, io }: CliContext): Promise<Source> {
  const around = submission.folderOnly === true ? undefined : await aroundPath(resolve(cwd, path))
  if (around === undefined) return { path, submission }
  const { root, inside } = around
  const place = (glob: string) => posix.join(inside, glob)
  const { paths, exclude } = submission
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

/** Where the patch of an earlier run from `path` applies: its paths are those in the repository around. */
export async function rootOf(path: string): Promise<string> {
  return (await aroundPath(path))?.root ?? path
}

async function aroundPath(path: string): Promise<Around | undefined> {
  const stats = await stat(path).catch(() => undefined)
  return stats?.isDirectory() === true ? repositoryAround(await realpath(path)) : undefined
}
