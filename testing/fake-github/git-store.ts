import { gitFiles, isId } from './git-files.ts'
import { type GitOptions, type GitOutput, runGit } from './run-git.ts'

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
export type GitStore = ReturnType<typeof gitStore>

export const noCommit = '0'.repeat(40)

/** A bare repository of the system's git, read and written as the Git data API does. */
export function gitStore(folder: string) {
  const { readObject, writeObject, readRef, listRefs, peel } = gitFiles(folder)
  const git = (args: readonly string[], options?: GitOptions) => runGit(folder, args, options)
  const textOf = ({ stdout }: GitOutput) => stdout.toString().trim()
  const line = async (args: readonly string[], options?: GitOptions) => textOf(await git(args, options))
  const known = new Map<string, GitOutput>()

  /** Asks git once, since what it says of ids alone, all of which exist, never changes. */
  async function fixed(args: readonly string[], options?: GitOptions): Promise<GitOutput> {
    const key = args.join('\0')
    const output = known.get(key) ?? (await git(args, options))
    known.set(key, output)
    return output
  }

  /** The files of `from` with `changes` made. */
  async function writeTree(from: string | undefined, changes: readonly TreeChange[]): Promise<string> {
    const before = from === undefined ? [] : await readTree(from, true)
    const files = new Map(before.filter(({ type }) => type !== 'tree').map((one) => [one.path, one]))
    for (const { path, mode, sha } of changes) {
      files.delete(path)
      if (sha === null) continue
      // A file takes the place of a folder, and a folder that of a file.
      for (const other of files.keys())
        if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) files.delete(other)
      files.set(path, { path, mode, sha, type: mode === '160000' ? 'commit' : 'blob' })
    }
    return writeFolder([...files.values()])
  }

  /** Git puts a folder where its name with a slash at the end belongs. */
  async function writeFolder(files: readonly GitEntry[]): Promise<string> {
    const folders = Map.groupBy(files, ({ path }) => path.slice(0, path.indexOf('/') + 1))
    const entries = (folders.get('') ?? []).map(({ path, mode, sha }) => ({ key: path, name: path, mode, sha }))
    for (const [key, inside] of folders) {
      if (key === '') continue
      const sha = await writeFolder(inside.map((one) => ({ ...one, path: one.path.slice(key.length) })))
      entries.push({ key, name: key.slice(0, -1), mode: '40000', sha })
    }
    const sorted = entries.toSorted((one, other) => Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)))
    const parts = sorted.flatMap(({ mode, name, sha }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(sha, 'hex')])
    return writeObject('tree', Buffer.concat(parts))
  }

  async function readTree(sha: string, recursive: boolean): Promise<GitEntry[]> {
    const { stdout } = await fixed(['ls-tree', '-z', '--long', ...(recursive ? ['-r', '-t'] : []), sha])
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
    return writeObject('commit', `${head.join('\n')}\n\n${commit.message}`)
  }

  async function readCommit(sha: string): Promise<GitCommit> {
    const found = await readObject(sha)
    if (found?.type !== 'commit') throw new Error(`there is no commit ${sha}`)
    return parseCommit(sha, found.bytes.toString())
  }

  /** Undefined: they have no common history. */
  async function mergeBase(one: string, other: string): Promise<string | undefined> {
    return textOf(await fixed(['merge-base', one, other], { allow: [1] })) || undefined
  }

  return {
    folder,
    git,
    fixed,
    line,
    readTree,
    writeTree,
    writeCommit,
    readCommit,
    async readBlob(sha: string): Promise<Buffer> {
      const found = await readObject(sha)
      if (found?.type !== 'blob') throw new Error(`there is no blob ${sha}`)
      return found.bytes
    },
    writeBlob: (content: string | Uint8Array) => writeObject('blob', content),
    has: async (sha: string, type: string) => (await readObject(sha))?.type === type,
    /** The commit, or the tree of the commit, that an id, the start of one, or the full name of a ref leads to. */
    async tip(name: string, type: 'commit' | 'tree' = 'commit'): Promise<string | undefined> {
      const isRef = name.startsWith('refs/')
      const id = isRef ? await readRef(name) : isId(name) ? name : undefined
      if (isRef || id !== undefined) return id && peel(id, type)
      return (await line(['rev-parse', '--verify', '--quiet', `${name}^{${type}}`], { allow: [1, 128] })) || undefined
    },
    async isAncestor(one: string, other: string): Promise<boolean> {
      return (await fixed(['merge-base', '--is-ancestor', one, other], { allow: [1] })).code === 0
    },
    mergeBase,
    /** The tree of the merge; undefined when it has conflicts. */
    async mergedTree(ours: string, theirs: string): Promise<string | undefined> {
      if ((await mergeBase(ours, theirs)) === ours) return peel(theirs, 'tree')
      const { code, stdout } = await fixed(['merge-tree', '--write-tree', ours, theirs], { allow: [1] })
      return code === 0 ? stdout.toString().trim() : undefined
    },
    readRef,
    listRefs,
    isRefName: async (name: string) => (await fixed(['check-ref-format', name], { allow: [1] })).code === 0,
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
