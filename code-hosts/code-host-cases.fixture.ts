import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PlannedFile } from '#domain/planned-commit.ts'
import type { CommitId } from '#domain/repository-source.ts'
import { type GitClone, openClone } from '#testing/git-clone.ts'
import { lacks } from '#testing/this-machine.ts'
import type { BranchOrder, ChangeRequest, CodeHost, CommitState, NewCommit, StatusReport } from './code-host.ts'

/** A code host with one repository for a test. */
export type PlayedHost = {
  /** Its bare repository, in which people work by real git. It is empty, and its default branch is `main`. */
  gitPath: string
  /** As another process has it. */
  open(): Promise<CodeHost>
  /** Has somebody move the branch after the next `publishBranch` has looked at it. By default while it is being pushed. */
  moveWhilePublishing?(branch: string, commit: CommitId): Promise<void>
  /** The open ones, as people see them. */
  changeRequests(): Promise<Omit<ChangeRequest, 'labels' | 'reviewers'>[]>
  /** What people see at a commit now. */
  statuses(commit: CommitId): Promise<{ state: CommitState; title: string }[]>
  close(): Promise<void>
}

/** Whether the host has them. */
type Shows = { changeRequests: boolean; statuses: boolean }

const firstFiles = { 'a.py': 'one\n', 'crlf.txt': 'one\r\n', 'sub/gone': 'g\n', 'ümläut 🙂.md': 'u\n' }

export function aFile(path: string, content: string | null, executable = false): PlannedFile {
  return { path, executable, content: content === null ? null : Buffer.from(content), baseHash: null }
}

/** As a run makes it. */
export function aCommit(title: string, ...files: PlannedFile[]): NewCommit {
  return { message: `${title}\n\nRemora-Run: r012345678\nRemora-Agent: ${title}\n`, files }
}

/** The clone of a person, with the files that the cases are about. */
export const cloneOf = (host: Pick<PlayedHost, 'gitPath'>): Promise<GitClone> => openClone(host, firstFiles)

/** What every code host must do, with the repository that git then sees. */
export function codeHostCases(name: string, start: () => Promise<PlayedHost>, shows: Shows): void {
  describe.skipIf(lacks('git'))(`${name} as a code host`, () => {
    let played: PlayedHost
    let clone: GitClone
    beforeEach(async () => {
      played = await start()
      clone = await cloneOf(played)
    })
    afterEach(async () => {
      await clone.close()
      await played.close()
    })

    async function publish(commits: NewCommit[], order: Partial<BranchOrder> = {}) {
      const host = await played.open()
      const base = await host.findBranch(null)
      if (base === undefined) throw new Error('the host has no default branch')
      return host.publishBranch({
        branch: 'remora/main',
        base: base.commit,
        baseBranch: base.name,
        commits,
        ...order,
      })
    }
    const lint = (content: string) => [aCommit('lint', aFile('a.py', content))]
    const tip = (branch = 'remora/main') => clone.bare('rev-parse', branch)
    const titles = async (branch = 'remora/main') => (await clone.bare('log', '--format=%s', branch)).split('\n')

    it('has its default branch, its tree and the bytes of its files', async () => {
      await symlink('a.py', join(clone.folder, 'link'))
      await chmod(join(clone.folder, 'a.py'), 0o755)
      const head = await clone.commit('modes')
      const host = await played.open()
      expect(await host.findBranch(null)).toEqual({ name: 'main', commit: head })
      expect(await host.findBranch('main')).toEqual({ name: 'main', commit: head })
      expect(await host.findBranch('none')).toBeUndefined()
      const tree = await host.readTree(head)
      expect(Object.fromEntries(Array.from(tree, ([path, { mode }]) => [path, mode]))).toEqual({
        'a.py': '100755',
        'crlf.txt': '100644',
        link: '120000',
        'sub/gone': '100644',
        'ümläut 🙂.md': '100644',
      })
      expect(Buffer.from(await host.readBlob(tree.get('crlf.txt')?.sha ?? '')).toString()).toBe('one\r\n')
      await expect(host.readBlob('0'.repeat(40))).rejects.toMatchObject({ code: 'HOST_004' })
      await expect(host.readTree('0'.repeat(40))).rejects.toMatchObject({ code: 'HOST_004' })
    })

    it('gets commits with new, changed and deleted files, their modes and their bytes, on top of the base', async () => {
      const bytes = Buffer.from([0, 255, 13, 10])
      const { head, result } = await publish([
        aCommit('lint', aFile('a.py', 'two\n'), aFile('crlf.txt', 'two\r\n'), aFile('neu/ö 🙂', 'n\n')),
        aCommit('docstring', aFile('a.py', 'three\n', true), aFile('sub/gone', null), aFile('sub', 'now a file\n')),
        aCommit('image', { ...aFile('x.bin', ''), content: bytes }),
      ])
      expect([result, await tip()]).toEqual(['created', head])
      expect(await titles()).toEqual(['image', 'docstring', 'lint', 'first'])
      const listed = clone.bare('-c', 'core.quotePath=false', 'ls-tree', '-r', '--format=%(objectmode) %(path)', head)
      expect((await listed).split('\n')).toEqual([
        '100755 a.py',
        '100644 crlf.txt',
        '100644 neu/ö 🙂',
        '100644 sub',
        '100644 x.bin',
        '100644 ümläut 🙂.md',
      ])
      expect(await clone.bare('show', `${head}~2:a.py`)).toBe('two')
      expect(await clone.bare('cat-file', '-s', `${head}:crlf.txt`)).toBe('5')
      await clone.bare('fsck', '--strict')
      const host = await played.open()
      const first = await tip('main')
      const [, after] = [await host.readTree(first), await host.readTree(head)]
      expect(Buffer.from(await host.readBlob(after.get('x.bin')?.sha ?? ''))).toEqual(bytes)
      const changed = ['a.py', 'crlf.txt', 'neu/ö 🙂', 'sub', 'sub/gone', 'x.bin']
      expect(await host.compare(first, head)).toEqual(changed)
    })

    it('gets nothing again, and other commits in the place of its own', async () => {
      const first = await publish(lint('two\n'))
      expect(await publish(lint('two\n'))).toEqual({ head: first.head, result: 'unchanged' })
      const second = await publish([...lint('three\n'), aCommit('test', aFile('t.py', 't\n'))])
      expect(second.result).toBe('updated')
      expect(await titles()).toEqual(['test', 'lint', 'first'])
      await clone.write({ 'other.py': 'o\n' })
      await clone.commit('second')
      expect(await publish(lint('three\n'))).toMatchObject({ result: 'updated' })
      expect(await titles()).toEqual(['lint', 'second', 'first'])
    })

    it('never loses a commit of a person, until that is on the base branch', async () => {
      await publish(lint('two\n'))
      await clone.checkOut('remora/main')
      await clone.write({ 'b.py': 'mine\n' })
      const mine = await clone.commit('mine')
      await expect(publish(lint('three\n'))).rejects.toMatchObject({
        code: 'PUBLISH_002',
        message: expect.stringContaining(mine.slice(0, 10)),
      })
      expect(await tip()).toBe(mine)
      await clone.checkOut('main')
      await clone.local('merge', '-q', 'remora/main')
      await clone.local('push', '-q', 'origin', 'HEAD')
      expect(await publish(lint('three\n'))).toMatchObject({ result: 'updated' })
      expect(await titles()).toContain('mine')
    })

    it('leaves alone a commit of its own that a person has amended', async () => {
      await publish(lint('two\n'))
      const amended = await clone.amend('remora/main', { 'a.py': 'mine\n' })
      await expect(publish(lint('three\n'))).rejects.toMatchObject({ code: 'PUBLISH_002' })
      expect(await tip()).toBe(amended)
    })

    it('knows a head that was written before, also when its base is on no branch any more', async () => {
      const first = await tip('main')
      await clone.write({ 'other.py': 'o\n' })
      await clone.commit('second')
      const { head } = await publish(lint('two\n'))
      await clone.local('reset', '-q', '--hard', first)
      await clone.local('push', '-qf', 'origin', 'HEAD')
      await expect(publish(lint('two\n'))).rejects.toMatchObject({ code: 'PUBLISH_002' })
      const again = await publish(lint('two\n'), { written: [head] })
      expect(again.result).toBe('updated')
      expect(await titles()).toEqual(['lint', 'first'])
      await clone.checkOut('remora/main')
      await clone.write({ 'b.py': 'mine\n' })
      await clone.commit('mine')
      const written = [head, again.head]
      await expect(publish(lint('three\n'), { written })).rejects.toMatchObject({ code: 'PUBLISH_002' })
    })

    it.each([true, false])(
      'overwrites nobody who moves the branch at the same time (there before: %s)',
      async (isThere) => {
        if (isThere) await publish(lint('two\n'))
        await clone.local('checkout', '-q', '-b', 'side')
        await clone.write({ 'b.py': 'mine\n' })
        const mine = await clone.commit('mine')
        const move = played.moveWhilePublishing ?? ((branch, commit) => moveInHook(played.gitPath, branch, commit))
        await move('remora/main', mine)
        await expect(publish(lint('three\n'))).rejects.toMatchObject({ code: 'PUBLISH_002' })
        expect(await tip()).toBe(mine)
      },
    )

    it('ends with one of them when several publish at once', async () => {
      const results = await Promise.all(['two\n', 'three\n', 'two\n'].map((text) => publish(lint(text))))
      expect(await titles()).toEqual(['lint', 'first'])
      expect(results.map(({ head }) => head)).toContain(await tip())
    })

    it(`has ${shows.changeRequests ? 'one change request of a branch, brought up to date' : 'no change requests'}`, async () => {
      const { openChangeRequest } = await played.open()
      expect(openChangeRequest !== null).toBe(shows.changeRequests)
      if (openChangeRequest === null) return
      await publish(lint('two\n'))
      const of = { branch: 'remora/main', baseBranch: 'main' }
      const first = { ...of, title: 'One', body: 'Why.\n', isDraft: true }
      const opened = await openChangeRequest({ ...first, labels: ['remora'], reviewers: ['nobody-knows-them'] })
      expect(opened).toMatchObject({ result: 'opened', isDraft: true, url: expect.stringContaining('http') })
      expect(await played.changeRequests()).toEqual([first])
      await publish(lint('three\n'))
      const again = await openChangeRequest({ ...of, title: 'Two', body: 'More.\n', isDraft: false })
      expect(again).toEqual({ ...opened, result: 'updated' })
      expect(await played.changeRequests()).toEqual([{ ...first, body: 'More.\n' }])
    })

    it(`has ${shows.statuses ? 'one status of a commit, brought up to date' : 'no statuses'}`, async () => {
      const { reportStatus } = await played.open()
      expect(reportStatus !== null).toBe(shows.statuses)
      if (reportStatus === null) return
      const commit = await tip('main')
      const report = (state: CommitState, title: string): StatusReport => {
        const of = { commit, name: 'Remora', key: 'r012345678', url: 'https://remora.example/', startedAt: 0 }
        return { ...of, state, title, summary: '# Words', buttons: [], annotations: [] }
      }
      const { id } = await reportStatus(report('queued', 'Waiting'))
      await reportStatus({ ...report('running', 'Half'), id })
      // As by another process, which knows of none.
      await reportStatus(report('failure', 'Failed'))
      expect(await played.statuses(commit)).toMatchObject([{ state: 'failure', title: 'Failed' }])
      await reportStatus({ ...report('success', 'Done'), id })
      expect(await played.statuses(commit)).toMatchObject([{ state: 'success', title: 'Done' }])
    })
  })
}

/** Git has the objects of a push apart until its hooks have taken it, and lets these move no branch. */
async function moveInHook(gitPath: string, branch: string, commit: CommitId): Promise<void> {
  const hook = join(gitPath, 'hooks', 'pre-receive')
  await mkdir(dirname(hook), { recursive: true })
  const move = `env -u GIT_QUARANTINE_PATH git update-ref refs/heads/${branch} ${commit}`
  await writeFile(hook, `#!/bin/sh\nrm -- "$0"\n${move}\n`, { mode: 0o755 })
}
