import { composeChangeSets } from '#change-sets/compose-change-sets.ts'
import { applyEdits, type ChangeSet, type Edit, type FileChange } from '#domain/change-set.ts'
import { sha256 } from '#domain/ids.ts'
import type { ComposedFile } from '#store/objects/composition.ts'
import type { CommitSource } from './plan-commits.ts'

export type BaseFiles = Readonly<Record<string, string | { content: string; executable: boolean }>>

const contentOf = (file: BaseFiles[string]) => (typeof file === 'string' ? file : file.content)

/** Files of a repository, and change sets of them as a run composes these. */
export function openBase(files: BaseFiles) {
  const blobs = new Map(Object.values(files).map((file) => [sha256(contentOf(file)), Buffer.from(contentOf(file))]))
  const textAt = (path: string) => contentOf(files[path] ?? '')
  const baseHashOf = (path: string) => sha256(textAt(path))

  function editing(path: string, ...changes: (readonly [old: string, text: string])[]): FileChange {
    const edits = changes.map(([old, text]): Edit => {
      const start = Buffer.from(textAt(path)).indexOf(old)
      return { start, end: start + Buffer.byteLength(old), text }
    })
    return {
      kind: 'edit',
      path,
      baseHash: baseHashOf(path),
      edits: edits.toSorted((one, other) => one.start - other.start),
    }
  }

  /** As the worker composes and stores them. */
  function composed(sets: readonly ChangeSet[]): CommitSource {
    const { files: results } = composeChangeSets(sets)
    const all = results.map((file): ComposedFile => {
      const base = file.kind === 'create' ? null : (blobs.get(file.baseHash) ?? Buffer.from(''))
      const after =
        file.kind === 'create'
          ? Buffer.from(file.content)
          : file.kind === 'delete'
            ? null
            : applyEdits(base ?? new Uint8Array(), file.edits)
      if (after !== null) blobs.set(sha256(after), Buffer.from(after))
      return {
        path: file.path,
        baseHash: file.kind === 'create' ? null : file.baseHash,
        resultHash: after === null ? null : sha256(after),
        ...(file.executable === undefined ? {} : { executable: file.executable }),
        changeSetIds: file.sets.map(({ changeSetId }) => changeSetId),
        evidence: [],
      }
    })
    return {
      composition: { files: all },
      sets: new Map(sets.map((set) => [set.changeSetId, set])),
      after: new Map(),
      isExecutable(path) {
        const file = files[path]
        return typeof file === 'object' && file.executable
      },
      readBlob: async (hash) => blobs.get(hash) ?? Promise.reject(new Error(`no blob ${hash}`)),
    }
  }

  return {
    editing,
    composed,
    creating: (path: string, content: string, executable?: boolean): FileChange => ({
      kind: 'create',
      path,
      content,
      ...(executable === undefined ? {} : { executable }),
    }),
    deleting: (path: string): FileChange => ({ kind: 'delete', path, baseHash: baseHashOf(path) }),
  }
}

export function setOf(id: string, agent: string, files: FileChange[], builtOn: string[] = []): ChangeSet {
  const ids = { changeSetId: id, operationId: `o${id}`, bundle: agent, nodeId: 'n0000000000000000' }
  return { ...ids, files, ...(builtOn.length === 0 ? {} : { builtOn }), evidence: [] }
}
