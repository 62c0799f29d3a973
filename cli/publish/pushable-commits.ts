import type { CodeHost, NewCommit } from '#code-hosts/code-host.ts'
import { type GitTree, gitBlobId, type PlannedCommit, type PlannedFile } from '#domain/planned-commit.ts'
import { findRefused, type PublishConsent } from '#stages/publish/check-publishable.ts'
import type { PlannedCommits } from '#schemas/patch-schema.ts'

export type MessagedCommit = PlannedCommit & NewCommit

/** A file that is not pushed. `reason` is the end of a sentence about its path. */
export type WithheldFile = { path: string; errorCode: 'PUBLISH_001'; reason: string; changeSetIds: string[] }

export type PushableCommits = { planned: PlannedCommits; commits: MessagedCommit[]; withheld: WithheldFile[] }

type Pushing = {
  tree: GitTree
  consent: PublishConsent
  host: Pick<CodeHost, 'readBlob'>
  /** The commits without these change sets and all that cannot be without them. */
  planWithout(changeSetIds: readonly string[]): Promise<PlannedCommits>
}

/** Plans the commits without what the base has, nor sets that change a file which must not be pushed. */
export async function pushableCommits(
  first: PlannedCommits,
  { tree, consent, host, planWithout }: Pushing,
): Promise<PushableCommits> {
  const out = new Set<string>()
  const reasons = new Map<string, string>()
  // Of a file that has moved nothing is pushed; that is said later, for all of them.
  const readBase = async ({ path, baseHash, content }: PlannedFile & { baseHash: string }) =>
    tree.get(path)?.sha === baseHash ? host.readBlob(baseHash) : (content ?? new Uint8Array())
  for (let planned = first; ;) {
    const commits = withoutThere(commitsOf(planned, tree), tree)
    const refused = await findRefused(commits, { tree, readBase, ...consent, without: ['base'] })
    const before = out.size
    for (const { file, reason } of refused) {
      reasons.set(file.path, reason)
      for (const id of setsOf(planned).get(file.path) ?? []) out.add(id)
    }
    if (out.size === before) return { planned, commits, withheld: withheldOf(first, { planned, reasons }) }
    planned = await planWithout([...out])
  }
}

function setsOf({ commits }: PlannedCommits): Map<string, string[]> {
  return new Map(commits.flatMap(({ files }) => files.map((file) => [file.path, file.change_set_ids])))
}

function withheldOf(
  first: PlannedCommits,
  { planned, reasons }: { planned: PlannedCommits; reasons: ReadonlyMap<string, string> },
): WithheldFile[] {
  const left = setsOf(planned)
  const gone = [...setsOf(first)].filter(([path]) => !left.has(path))
  return gone.map(([path, changeSetIds]) => {
    const reason = reasons.get(path) ?? 'is changed by a change set that is left out, or that needs one that is'
    return { path, errorCode: 'PUBLISH_001', reason, changeSetIds }
  })
}

/** Takes an executable bit that the run did not change from the tree: a run made from a folder may not know it. */
function commitsOf({ commits }: PlannedCommits, tree: GitTree): MessagedCommit[] {
  return commits.map(({ agent, message, change_set_ids: changeSetIds, files }) => ({
    agent,
    message,
    changeSetIds,
    files: files.map(
      ({ path, executable, changes_mode: changesMode, content_base64: content, base_sha1: baseHash }) => ({
        path,
        executable: changesMode || baseHash === null ? executable : tree.get(path)?.mode === '100755',
        ...(changesMode && { changesMode }),
        content: content === null ? null : Buffer.from(content, 'base64'),
        baseHash,
      }),
    ),
  }))
}

/** Leaves out the files that the base has as the last commit leaves them: somebody has merged these. */
function withoutThere(commits: readonly MessagedCommit[], tree: GitTree): MessagedCommit[] {
  const last = new Map(commits.flatMap(({ files }) => files.map((file) => [file.path, file])))
  const isThere = (path: string) => {
    const [file, there] = [last.get(path), tree.get(path)]
    if (file === undefined || file.content === null) return there === undefined
    return there?.sha === gitBlobId(file.content) && there.mode === (file.executable ? '100755' : '100644')
  }
  const left = commits.map((commit) => ({ ...commit, files: commit.files.filter(({ path }) => !isThere(path)) }))
  return left.filter(({ files }) => files.length > 0)
}
