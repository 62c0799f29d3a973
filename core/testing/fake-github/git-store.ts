import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type GitOptions, runGit } from './run-git.ts'

export type GitPerson = { name: string; email: string; date: string }
export type GitCommit = {
  sha: string
  tree: string
  parents: string[]
  author: GitPerson
  committer: GitPerson
  message: string
}
export type GitEntry = { path: string; mode: string; type: string; sha: string; size?: number }
/** `sha` null: the path goes. */
export type TreeChange = { path: string; mode: string; sha: string | null }
export type GitObject = { type: string; size: number }
export type GitStore = ReturnType<typeof gitStore>

export const noCommit = '0'.repeat(40)
export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/** A bare repository of the system's git, read and written as the Git data API does. */
export function gitStore(folder: string) {
  const git = (args: readonly string[], options?: GitOptions) => runGit(folder, args, options)
  const line = async (args: readonly string[], options?: GitOptions) =>
    (await git(args, options)).stdout.toString().trim()
  const lines = async (args: readonly string[]) => (await line(args)).split('\n').filter((one) => one !== '')

  async function objects(names: readonly string[]): Promise<(GitObject | undefined)[]> {
    const found = await line(['cat-file', '--batch-check'], { input: names.join('\n') })
    return found.split('\n').map((text) => {
      const [, type = '', size = ''] = text.split(' ')
      return /^\d+$/.test(size) ? { type, size: Number(size) } : undefined
    })
  }

  /** The files of `from` with `changes` made. Throws when git finds the tree impossible. */
  async function writeTree(from: string | undefined, changes: readonly TreeChange[]): Promise<string> {
    const variables = { GIT_INDEX_FILE: join(folder, `index-${randomUUID()}`) }
    try {
      await git(from === undefined ? ['read-tree', '--empty'] : ['read-tree', from], { variables })
      const added = await Promise.all(changes.map(expand))
      const input = added
        .flat()
        .map(({ path, mode, sha }) => (sha === null ? `0 ${noCommit}\t${path}\0` : `${mode} ${sha}\t${path}\0`))
        .join('')
      if (input !== '') await git(['update-index', '-z', '--replace', '--index-info'], { variables, input })
      return await line(['write-tree'], { variables })
    } finally {
      await rm(variables.GIT_INDEX_FILE, { force: true })
    }
  }

  /** An index has files only: a folder is given as its files. */
  async function expand(change: TreeChange): Promise<TreeChange[]> {
    if (change.mode !== '040000' || change.sha === null) return [change]
    const inside = await readTree(change.sha, true)
    return inside.filter(({ type }) => type !== 'tree').map((one) => ({ ...one, path: `${change.path}/${one.path}` }))
  }

  async function readTree(sha: string, recursive: boolean): Promise<GitEntry[]> {
    const { stdout } = await git(['ls-tree', '-z', '--long', ...(recursive ? ['-r', '-t'] : []), sha])
    const records = stdout.toString().split('\0').slice(0, -1)
    return records.map((record) => {
      const [head = '', path = ''] = record.split('\t')
      const [mode = '', type = '', id = '', size = '-'] = head.split(/ +/)
      return { path, mode, type, sha: id, ...(size === '-' ? {} : { size: Number(size) }) }
    })
  }

  async function writeCommit(commit: Omit<GitCommit, 'sha'>): Promise<string> {
    const head = [
      `tree ${commit.tree}`,
      ...commit.parents.map((parent) => `parent ${parent}`),
      `author ${personLine(commit.author)}`,
      `committer ${personLine(commit.committer)}`,
    ]
    const input = `${head.join('\n')}\n\n${commit.message}`
    return line(['hash-object', '-t', 'commit', '-w', '--stdin'], { input })
  }

  async function readCommits(shas: readonly string[]): Promise<GitCommit[]> {
    const { stdout } = await git(['cat-file', '--batch'], { input: shas.map((sha) => `${sha}\n`).join('') })
    let at = 0
    return shas.map((sha) => {
      const end = stdout.indexOf(10, at)
      const size = Number(stdout.subarray(at, end).toString().split(' ')[2])
      if (!(size >= 0)) throw new Error(`there is no commit ${sha}`)
      at = end + size + 2
      return parseCommit(sha, stdout.subarray(end + 1, end + 1 + size).toString())
    })
  }

  return {
    folder,
    git,
    line,
    lines,
    objects,
    readTree,
    writeTree,
    writeCommit,
    readCommits,
    readBlob: async (sha: string) => (await git(['cat-file', 'blob', sha])).stdout,
    writeBlob: (input: string | Uint8Array) => line(['hash-object', '-w', '--stdin'], { input }),
    async has(sha: string, type: string): Promise<boolean> {
      return /^[0-9a-f]{40}$/.test(sha) && (await objects([sha]))[0]?.type === type
    },
    /** The commit that a full ref name points to. */
    async tip(ref: string): Promise<string | undefined> {
      const { stdout } = await git(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`], { allow: [1, 128] })
      return stdout.toString().trim() || undefined
    },
    async isAncestor(one: string, other: string): Promise<boolean> {
      return (await git(['merge-base', '--is-ancestor', one, other], { allow: [1] })).code === 0
    },
    /** Undefined: they have no common history. */
    async mergeBase(one: string, other: string): Promise<string | undefined> {
      return (await line(['merge-base', one, other], { allow: [1] })) || undefined
    },
    /** The tree of the merge; undefined when it has conflicts. */
    async mergedTree(ours: string, theirs: string): Promise<string | undefined> {
      const { code, stdout } = await git(['merge-tree', '--write-tree', ours, theirs], { allow: [1] })
      return code === 0 ? stdout.toString().trim() : undefined
    },
    refs: (pattern: string) =>
      lines(['for-each-ref', '--format=%(refname) %(objectname) %(objecttype)', pattern]).then((found) =>
        found.map((text) => {
          const [ref = '', sha = '', type = ''] = text.split(' ')
          return { ref, sha, type }
        }),
      ),
  }
}

function personLine({ name, email, date }: GitPerson): string {
  const clean = (text: string) => text.replaceAll(/[<>\n]/g, '').trim()
  return `${clean(name)} <${clean(email)}> ${Math.floor(Date.parse(date) / 1_000)} +0000`
}

function parseCommit(sha: string, text: string): GitCommit {
  const end = text.indexOf('\n\n')
  const head = text.slice(0, end).split('\n')
  const all = (name: string) =>
    head.filter((one) => one.startsWith(`${name} `)).map((one) => one.slice(name.length + 1))
  return {
    sha,
    tree: all('tree')[0] ?? '',
    parents: all('parent'),
    author: parsePerson(all('author')[0] ?? ''),
    committer: parsePerson(all('committer')[0] ?? ''),
    message: text.slice(end + 2).replace(/\n$/, ''),
  }
}

function parsePerson(text: string): GitPerson {
  const [, name = '', email = '', seconds = '0'] = /^(.*?) ?<(.*)> (\d+) [+-]\d{4}$/.exec(text) ?? []
  return { name, email, date: new Date(Number(seconds) * 1_000).toISOString().replace('.000', '') }
}
