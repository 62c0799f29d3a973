import { existsSync } from 'node:fs'
import { lstat, readlink, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { findProgram, type Wrapper, wrapperInput } from '#platform/run-program.ts'
import {
  folderBytes,
  homeFolder,
  launcherOf,
  sandboxVariables,
  type SandboxedProgram,
  sharedMemoryBytes,
  workFolder,
} from './sandboxed-program.ts'
import { systemCallFilter } from './system-call-filter.ts'

/** Lists, as arguments of bwrap, what a sandbox shows of this machine. It is the same for all programs. */
export type SystemMounts = readonly string[]

const systemFolders = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
/** Programs read these of /etc, which say nothing about this machine's users or network. */
const systemFiles = [
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
  '/etc/mime.types',
  '/etc/protocols',
  '/etc/services',
]
const ownPrograms = '/remora/bin'
export const ownNode = `${ownPrograms}/node`
const sandboxUser = 1000
/** Is added to the limit on data, since Node maps so much and never uses it; the memory of all processes is watched as well. */
const unusedBytes = 1024 ** 3

/** Shows the system, this process's `node`, the Go of the search path and `paths`, read-only; root gets no program that others could not read. */
export async function readSystemMounts(
  { paths, searchPath }: { paths: readonly string[]; searchPath: string },
  isRoot: boolean,
): Promise<SystemMounts> {
  const mounts = ['--ro-bind', '/usr', '/usr']
  for (const folder of systemFolders) mounts.push(...(await folderMount(folder)))
  for (const file of systemFiles) mounts.push('--ro-bind-try', file, file)
  if (!isRoot || (await isReadableByAll(process.execPath))) mounts.push('--ro-bind', process.execPath, ownNode)
  mounts.push(...(await goMounts(searchPath, isRoot)))
  return [...mounts, ...paths.flatMap((path) => ['--ro-bind', path, path])]
}

/** Go finds the rest of its toolchain from where its program really is, so that is shown where it is. */
async function goMounts(searchPath: string, isRoot: boolean): Promise<string[]> {
  const program = await findProgram('go', searchPath)
  const go = program === undefined ? '' : await realpath(program)
  const root = dirname(dirname(go))
  // Each release has this file; a program that only starts another `go` is no use here.
  const isToolchain = basename(go) === 'go' && (await stat(join(root, 'VERSION')).catch(() => undefined)) !== undefined
  if (!isToolchain || (isRoot && !(await isReadableByAll(go)))) return []
  const links = ['go', 'gofmt'].flatMap((name) => ['--symlink', join(root, 'bin', name), `${ownPrograms}/${name}`])
  return [...(root.startsWith('/usr/') ? [] : ['--ro-bind', root, root]), ...links]
}

async function folderMount(folder: string): Promise<string[]> {
  const stats = await lstat(folder).catch(() => undefined)
  if (stats?.isSymbolicLink() === true) return ['--symlink', await readlink(folder), folder]
  return stats?.isDirectory() === true ? ['--ro-bind', folder, folder] : []
}

async function isReadableByAll(path: string, { isFolder = false } = {}): Promise<boolean> {
  const { mode } = await stat(path)
  // Of a file to read it, of a folder to go through it.
  if ((mode & (isFolder ? 0o001 : 0o004)) === 0) return false
  return path === '/' || isReadableByAll(dirname(path), { isFolder: true })
}

/** The descriptors of bwrap beside stdin, stdout and stderr. It reads from all but the result's, which is the program's to write. */
export const descriptors = { base: 3, users: 4, hosts: 5, result: 6, filter: 7 } as const

/** Files of the system that a sandbox has of its own, by the descriptors that they come from. */
export const ownFiles = [
  [descriptors.users, `remora:x:${sandboxUser}:${sandboxUser}::${homeFolder}:/bin/sh\n`],
  [descriptors.hosts, '127.0.0.1 localhost sandbox\n::1 localhost\n'],
] as const

/**
 * Returns the arguments of bwrap for one program: no network, nothing of this machine but `mounts`, no other process to be seen, no
 * privilege to be had, nothing to be written but the working folder, /tmp and shared memory. All of it ends with its first process,
 * and that with this process.
 */
export function bubblewrapArgs(program: SandboxedProgram, mounts: SystemMounts): string[] {
  const { limits, environment = {}, files, mounts: own = [], folders = [] } = program
  const inMemory = (bytes: number, folder: string) => ['--size', String(bytes), '--perms', '1777', '--tmpfs', folder]
  const launch = {
    unpackBase: files.base === undefined ? ':' : `tar -xf - <&${descriptors.base} && exec ${descriptors.base}<&-`,
    unpackChanges: 'tar -xf -',
    limits: [`--data=${limits.memoryBytes + unusedBytes}`, `--nproc=${limits.processes}`],
  }
  return [
    isolation,
    Object.entries({ ...sandboxVariables, ...environment, PATH: programPath }).flatMap(([name, value]) => [
      '--setenv',
      name,
      value,
    ]),
    mounts,
    [
      '--proc',
      '/proc',
      ...coveredFiles,
      '--dev',
      '/dev',
      ...inMemory(sharedMemoryBytes, '/dev/shm'),
      '--remount-ro',
      '/dev',
    ],
    ['--ro-bind-data', String(descriptors.users), '/etc/passwd'],
    ['--ro-bind-data', String(descriptors.hosts), '/etc/hosts'],
    inMemory(limits.diskBytes, '/tmp'),
    inMemory(limits.diskBytes, workFolder),
    own.flatMap(({ from, to }) => ['--ro-bind', from, to]),
    folders.flatMap((path) => inMemory(folderBytes(program), path)),
    ['--remount-ro', '/', '--chdir', '/', '--seccomp', String(descriptors.filter), '--'],
    launcherOf(program, launch),
  ].flat()
}

/** Starts the rest of its arguments without network, privileges, sight of other processes or anything to write: it reads `folders` and Node. */
export function isolatingCommand(bwrap: string, mounts: SystemMounts, folders: readonly string[]): Wrapper {
  const shown = [process.execPath, ...folders].flatMap((path) => ['--ro-bind', path, path])
  const kernel = ['--proc', '/proc', ...coveredFiles, '--dev', '/dev', '--remount-ro', '/dev']
  const last = ['--remount-ro', '/', '--chdir', '/', '--seccomp', String(wrapperInput), '--']
  return { command: [bwrap, ...isolation, ...mounts, ...shown, ...kernel, ...last], input: systemCallFilter() }
}

/** Covers the files in which the kernel tells everybody of the keys of all users, where it does. */
const coveredFiles = ['/proc/keys', '/proc/key-users']
  .filter((path) => existsSync(path))
  .flatMap((path) => ['--ro-bind', '/dev/null', path])

const user = String(sandboxUser)
const isolation = [
  ['--unshare-all', '--unshare-user', '--disable-userns', '--new-session', '--die-with-parent'],
  ['--cap-drop', 'ALL', '--uid', user, '--gid', user, '--hostname', 'sandbox', '--clearenv'],
].flat()

export const programPath = `${ownPrograms}:/usr/local/bin:/usr/bin:/bin`
