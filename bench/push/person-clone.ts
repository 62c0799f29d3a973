import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const person = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'core.autocrlf=false']

/** A clone in which a person works with git alone. */
export async function openPersonClone(gitPath: string) {
  const path = await mkdtemp(join(tmpdir(), 'remora-push-'))
  const git = async (...args: string[]) =>
    (await run('git', ['-C', path, ...person, ...args], { maxBuffer: 64 * 1024 ** 2 })).stdout.trim()
  await run('git', ['clone', '--quiet', gitPath, path])
  const push = async (message: string) => {
    await git('add', '--all', '--force')
    await git('commit', '--quiet', '--message', message)
    await git('push', '--quiet', 'origin', 'HEAD:main')
    return git('rev-parse', 'HEAD')
  }
  return {
    path,
    git,
    /** All files of a folder as one commit. */
    async pushFolder(folder: string, message: string): Promise<string> {
      await cp(folder, path, { recursive: true, verbatimSymlinks: true })
      return push(message)
    },
    async pushChange(file: string, change: (text: string) => string, message: string): Promise<string> {
      const place = join(path, file)
      await writeFile(place, change(await readFile(place, 'utf8')))
      return push(message)
    },
    /** The files of a branch of the remote repository, without git's own. */
    async checkoutTo(branch: string, folder: string): Promise<void> {
      await git('fetch', '--quiet', 'origin')
      await git('worktree', 'add', '--quiet', '--detach', folder, `origin/${branch}`)
    },
  }
}
