import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { gitSettings } from './git-settings.ts'

const run = promisify(execFile)
const maxListingBytes = 256 * 1024 ** 2

/** Files that git tracks although .gitignore names them: they are part of the repository. */
export type TrackedIgnored = {
  files: ReadonlySet<string>
  /** All folders above them. */
  folders: ReadonlySet<string>
}

export const nothingTracked: TrackedIgnored = { files: new Set(), folders: new Set() }

/**
 * Those below `root`, a folder of a git checkout; paths are relative to it. None where git is not installed or refuses
 * the repository: then .gitignore alone decides.
 */
export async function trackedIgnored(root: string, signal: AbortSignal): Promise<TrackedIgnored> {
  const command = ['ls-files', '-z', '--cached', '--ignored', '--exclude-standard']
  const listed = await run('git', [...gitSettings, ...command], {
    cwd: root,
    signal,
    maxBuffer: maxListingBytes,
  }).catch(() => undefined)
  signal.throwIfAborted()
  const files = new Set((listed?.stdout ?? '').split('\0').filter((path) => path !== ''))
  const folders = new Set<string>()
  for (const path of files) {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) folders.add(path.slice(0, at))
  }
  return { files, folders }
}
