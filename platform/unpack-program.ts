import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { PackagedProgram } from './known-programs.ts'
import { examine, type Got, putIntoPlace, treePrefix } from './program-cache.ts'
import type { Packager } from './packager.ts'
import { failureOf, findProgram, isSuccess, type ProgramEnd, type Running, runProgram } from './run-program.ts'

type UnpackOptions = Running & { searchPath: string; programDir: string; workDir: string }

type Apt = UnpackOptions & { wanted: PackagedProgram; path: string; dpkgDeb: string }

/**
 * Gets a program from the packages of Debian or Ubuntu without installing anything, root or password: apt-get downloads it with
 * the libraries that this system lacks, checks signatures, and a script starts what is unpacked in `programDir`. May be stopped
 * at any time, and run several times at once.
 */
export async function unpackProgram(wanted: PackagedProgram, packager: Packager, options: UnpackOptions): Promise<Got> {
  const dpkgDeb = await findProgram('dpkg-deb', options.searchPath)
  if (dpkgDeb === undefined) return { refusal: 'there is no dpkg-deb to unpack a package with' }
  const apt: Apt = { ...options, wanted, path: packager.path, dpkgDeb }
  const packages = packager.kind.packages[wanted.source.of]
  const got = await getFirst(apt, packages, systemLists)
  return 'path' in got ? got : getFirst(apt, packages, await downloadLists(apt))
}

type Lists = readonly string[]
const systemLists: Lists = []

/** A failure here shows later: a package is not found. */
async function downloadLists(apt: Apt): Promise<Lists> {
  const lists = ['-o', `Dir::State=${join(apt.workDir, 'state')}`]
  await mkdir(join(apt.workDir, 'state', 'lists', 'partial'), { recursive: true })
  await runApt(apt, [...lists, 'update'])
  return lists
}

async function getFirst(apt: Apt, packages: readonly string[], lists: Lists): Promise<Got> {
  const refusals: string[] = []
  for (const name of packages) {
    const got = await getPackage(apt, name, lists)
    if ('path' in got) return got
    refusals.push(got.refusal)
  }
  return { refusal: refusals.at(0) ?? 'no package of this system holds it' }
}

async function getPackage(apt: Apt, name: string, lists: Lists): Promise<Got> {
  const archives = join(apt.workDir, 'cache', 'archives')
  await rm(archives, { recursive: true, force: true })
  await mkdir(join(archives, 'partial'), { recursive: true })
  // --reinstall: also when the package is installed, but not on this PATH.
  const install = ['install', '--download-only', '--reinstall', '-y', '--no-install-recommends', name]
  const downloaded = await runApt(apt, [...lists, ...install])
  if (!isSuccess(downloaded)) return { refusal: `apt-get did not get ${name}: ${failureOf(downloaded)}` }
  const files = (await readdir(archives)).filter((file) => file.endsWith('.deb'))
  const tree = await mkdtemp(join(apt.programDir, treePrefix))
  let path: string | undefined
  try {
    path = await unpackInto(tree, { apt, archives, files })
  } finally {
    if (path === undefined) await rm(tree, { recursive: true, force: true })
  }
  if (path !== undefined) return { path }
  return (await placed(apt)) ?? { refusal: `${name} has no ${apt.wanted.title} that can be used` }
}

/** Returns the script's path once the program in `tree` was checked; undefined when there is none, or it is no longer needed. */
async function unpackInto(
  tree: string,
  { apt, archives, files }: { apt: Apt; archives: string; files: readonly string[] },
): Promise<string | undefined> {
  for (const file of files) {
    const { limitMs, signal, env } = apt
    const unpacked = await runProgram([apt.dpkgDeb, '-x', join(archives, file), tree], { limitMs, signal, env })
    if (!isSuccess(unpacked)) return undefined
  }
  const held = await readdir(tree, { recursive: true })
  const program = apt.wanted.source.files.find((path) => held.includes(path))
  if (program === undefined) return undefined
  // Also for a user who is not the one that got it: root starts programs of the sandbox as nobody.
  await chmod(tree, 0o755)
  const named = join(tree, apt.wanted.names[0])
  await symlink(program, named)
  const libraries = held.filter((path) => /\.so(?:\.|$)/.test(path)).map((path) => join(tree, dirname(path)))
  const script = startScript(named, [...new Set(libraries)])
  // Not when another process has put one into place meanwhile.
  const isWanted = async () => (await placed(apt)) === undefined
  return putIntoPlace(apt.wanted, apt, (path) => writeFile(path, script, { mode: 0o755 }), isWanted)
}

function startScript(program: string, libraryFolders: readonly string[]): string {
  const folders = libraryFolders.map(quoted).join(':')
  const libraries = folders === '' ? '' : `export LD_LIBRARY_PATH=${folders}\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\n`
  return `#!/bin/sh\n${libraries}exec ${quoted(program)} "$@"\n`
}

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

async function placed(apt: Apt): Promise<{ path: string } | undefined> {
  const program = await examine(apt.wanted, join(apt.programDir, apt.wanted.place), apt)
  return program?.fit === 'right' ? { path: program.path } : undefined
}

// A dead network must be noticed soon. No lock: nothing of the system is written.
const settings = ['Acquire::Retries=0', 'Acquire::http::Timeout=10', 'Acquire::Languages=none', 'Debug::NoLocking=true']

function runApt({ path, workDir, limitMs, signal, env }: Apt, args: readonly string[]): Promise<ProgramEnd> {
  const all = [...settings, `Dir::Cache=${join(workDir, 'cache')}`].flatMap((setting) => ['-o', setting])
  return runProgram([path, '-q', ...all, ...args], { limitMs, signal, env })
}
