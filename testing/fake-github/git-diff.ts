import type { GitStore } from './git-store.ts'

export type FileDiff = {
  path: string
  previousPath?: string
  status: 'added' | 'removed' | 'modified' | 'renamed'
  /** Of the new file; of the old one when it was removed. */
  sha: string
  additions: number
  deletions: number
  patch?: string
}

/** What changed from one tree (or commit) to another, as git sees it. */
export async function diffTrees(store: GitStore, from: string, to: string): Promise<FileDiff[]> {
  const common = ['diff-tree', '-r', '-M', '--full-index', from, to]
  const [raw, counts, patches] = await Promise.all([
    store.fixed([...common, '--raw', '-z']),
    store.fixed([...common, '--numstat', '-z']),
    store.fixed([...common, '--patch']),
  ])
  const numbers = parseCounts(counts.stdout.toString())
  const texts = patches.stdout
    .toString()
    .split(/^diff --git .*\n/m)
    .slice(1)
  return parseRaw(raw.stdout.toString()).map((file, index) => {
    const hunks = texts[index]?.match(/^@@ [\s\S]*/m)?.[0].replace(/\n$/, '')
    const [additions = 0, deletions = 0] = numbers[index] ?? []
    return { ...file, additions, deletions, ...(hunks === undefined ? {} : { patch: hunks }) }
  })
}

/** The paths alone: a renamed file is one that was removed and one that was added. */
export async function changedPaths(store: GitStore, from: string, to: string) {
  const { stdout } = await store.fixed(['diff-tree', '-r', '-z', '--no-renames', '--name-status', from, to])
  const paths: Record<'added' | 'removed' | 'modified', string[]> = { added: [], removed: [], modified: [] }
  const fields = stdout.toString().split('\0')
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const kind = fields[at] === 'A' ? 'added' : fields[at] === 'D' ? 'removed' : 'modified'
    paths[kind].push(fields[at + 1] ?? '')
  }
  return paths
}

function parseRaw(text: string): Omit<FileDiff, 'additions' | 'deletions' | 'patch'>[] {
  const fields = text.split('\0')
  const files = []
  for (let at = 0; at < fields.length - 1;) {
    const [, , oldSha = '', newSha = '', letter = ''] = (fields[at] ?? '').split(' ')
    const first = fields[at + 1] ?? ''
    const renamed = letter.startsWith('R')
    const path = renamed ? (fields[at + 2] ?? '') : first
    at += renamed ? 3 : 2
    const status = statuses[letter.slice(0, 1)] ?? 'modified'
    files.push({ path, status, sha: letter === 'D' ? oldSha : newSha, ...(renamed ? { previousPath: first } : {}) })
  }
  return files
}

const statuses: Record<string, FileDiff['status']> = { A: 'added', D: 'removed', M: 'modified', R: 'renamed' }

function parseCounts(text: string): [number, number][] {
  const fields = text.split('\0').slice(0, -1)
  const counts: [number, number][] = []
  for (let at = 0; at < fields.length;) {
    const [additions = '', deletions = '', path = ''] = (fields[at] ?? '').split('\t')
    counts.push([Number(additions) || 0, Number(deletions) || 0]) // a dash for a binary file
    at += path === '' ? 3 : 1 // a rename's two paths follow
  }
  return counts
}
