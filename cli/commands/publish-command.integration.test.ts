import { execFile } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startFakeGitea } from '#testing/fake-gitea.ts'
import { lacks } from '#testing/this-machine.ts'
import { endings, proposing as propose, source } from './proposed-commits.fixture.ts'
import { gitEnv, useRemote } from './published-to-remote.fixture.ts'

const execute = promisify(execFile)

const at = useRemote()
const { git, bare, write, commit, publish, publishIn } = at
const proposing = () => propose(at.api, endings)

describe.skipIf(lacks('git'))('remora publish --to', () => {
  it('makes one commit for each agent of which the last has the tree of the archive, and nothing the second time', async () => {
    const runId = await proposing()
    const { out, code } = await publish(runId)
    const head = await bare('rev-parse', 'remora/main')
    expect(code).toBe(0)
    expect(out).toBe(
      [
        'Fix lint findings in 2 files',
        'Document definitions in 1 file',
        'Add tests in 3 files',
        `3 commits pushed to remora/main of bare.git, on top of main: ${head}`,
        '',
      ].join('\n'),
    )
    expect(await bare('log', '--format=%s %an %(trailers:key=Remora-Agent,valueonly,separator=)', head)).toBe(
      [
        'Add tests in 3 files Ada test',
        'Document definitions in 1 file Ada docstring',
        'Fix lint findings in 2 files Ada lint',
        'first Ada',
      ].join('\n'),
    )
    expect(await bare('show', '--name-status', '--format=', head)).toBe('M\tcrlf.txt\nD\trun.sh\nA\ttests/tést.sh')
    expect(await bare('show', `${head}~:a.py`)).toBe('def f():\n    """F."""\n    return 1')
    const archive = await at.api.ask(`/v1/runs/${runId}/archive?of=proposed`)
    await writeFile(join(at.dir, 'tree.tar.gz'), Buffer.from(await archive.arrayBuffer()))
    await mkdir(join(at.dir, 'archive'))
    await execute('tar', ['-xzf', join(at.dir, 'tree.tar.gz'), '-C', join(at.dir, 'archive')])
    await git('.', 'clone', '-q', '-b', 'remora/main', 'bare.git', 'clone')
    await execute('diff', ['-r', '--exclude=.git', join(at.dir, 'archive'), join(at.dir, 'clone')])
    expect(await bare('ls-tree', '-r', '--format=%(objectmode)', head, 'tests/')).toBe('100755')
    const again = await publish(runId, '--json')
    expect(JSON.parse(again.out)).toMatchObject({ run_id: runId, result: 'unchanged', branch: 'remora/main', head })
  })

  it('commits as whom git knows in the folder of the caller, and says so where it knows nobody there', async () => {
    const runId = await proposing()
    await git('local', 'config', 'user.name', 'Lin, at work')
    await git('local', 'config', 'user.email', 'lin@work.example')
    const anonymous = {
      PATH: gitEnv.PATH,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: join(at.dir, 'settings'),
    }
    await writeFile(join(at.dir, 'settings'), '[user]\nname = Lin\nuseConfigOnly = true\n')
    await expect(publishIn({ cwd: at.dir, env: anonymous }, runId)).rejects.toMatchObject({
      code: 'WORK_006',
      message: expect.stringMatching(/^git does not know who you are in \S+: .*user\.email/s),
    })
    expect(await bare('branch', '--list', '--format=%(refname:short)')).toBe('main')
    const authors = () => bare('log', '-1', '--format=%an <%ae>, %cn <%ce>', 'remora/main')
    await publishIn({ cwd: join(at.dir, 'local'), env: anonymous }, runId)
    expect(await authors()).toBe('Lin, at work <lin@work.example>, Lin, at work <lin@work.example>')
    await write({ 'other.py': 'o\n' })
    await commit('second')
    const given = { ...anonymous, GIT_AUTHOR_NAME: 'Grace', GIT_COMMITTER_EMAIL: 'bot@work.example' }
    await publishIn({ cwd: join(at.dir, 'local'), env: given }, runId)
    expect(await authors()).toBe('Grace <lin@work.example>, Lin, at work <bot@work.example>')
  })

  it('goes on top of a base that has moved, as long as the files are the same there, and else names them', async () => {
    const runId = await proposing()
    await publish(runId)
    await write({ 'other.py': 'o\n', 'a.py': { content: source, executable: true } })
    await chmod(join(at.dir, 'local/a.py'), 0o755)
    await commit('second')
    expect((await publish(runId)).out).toContain('3 commits pushed')
    // The run has not changed the bit that somebody has set since.
    expect(await bare('ls-tree', '--format=%(objectmode)', 'remora/main', 'a.py')).toBe('100755')
    expect(await bare('log', '--format=%s', '-2', '--skip=3', 'remora/main')).toBe('second\nfirst')
    const head = await bare('rev-parse', 'remora/main')
    await write({ 'crlf.txt': 'two\r\n' })
    await commit('third')
    await expect(publish(runId)).rejects.toMatchObject({
      code: 'WORK_002',
      message: expect.stringMatching(/^nothing was pushed: 1 file on main .*:\ncrlf\.txt$/),
    })
    expect(await bare('rev-parse', 'remora/main')).toBe(head)
    await git('local', 'checkout', '-q', '-b', 'older', 'HEAD~')
    await git('local', 'push', '-q', 'origin', 'older')
    expect(JSON.parse((await publish(runId, '--base', 'older', '--branch', 'mine', '--json')).out)).toMatchObject({
      branch: 'mine',
      base: { name: 'older' },
      result: 'created',
    })
  })

  it('has nothing to push once all is merged, and the rest where a part is', async () => {
    const runId = await proposing()
    await publish(runId)
    await git('local', 'pull', '-q', 'origin', 'remora/main')
    await git('local', 'reset', '-q', '--hard', 'HEAD~')
    await git('local', 'push', '-q', 'origin', 'HEAD:main')
    expect((await publish(runId)).out).toMatch(/^Add tests in 3 files\n(?:nothing to push: )?1 commit /)
    await git('local', 'pull', '-q', 'origin', 'remora/main')
    await git('local', 'push', '-q', 'origin', 'HEAD:main')
    expect((await publish(runId)).out).toBe('main has all of it already: nothing to push\n')
  })

  it('leaves alone what a person has added to the branch', async () => {
    const runId = await proposing()
    await publish(runId)
    await git('local', 'fetch', '-q')
    await git('local', 'checkout', '-q', 'remora/main')
    await write({ 'mine.py': 'm\n' })
    await commit('mine')
    await write({ 'b.py': 'b\n' })
    await git('local', 'checkout', '-q', 'main')
    await commit('second')
    await expect(publish(runId)).rejects.toMatchObject({
      code: 'PUBLISH_002',
      message: expect.stringMatching(/of Ada \("mine"\)/),
    })
  })

  it('says what there is nothing to publish of, and where it cannot', async () => {
    const runId = await proposing()
    const refusals: [string, string[]][] = [
      ['PUBLISH_001', ['--of', 'accepted']],
      ['HOST_002', ['--to', 'none']],
      ['HOST_004', ['--base', 'none']],
      ['CONFIG_003', ['--branch', 'main']],
      ['CONFIG_003', ['--branch', 'a..b']],
      ['CONFIG_003', ['--to', 'ext::sh -c true']],
    ]
    for (const [code, args] of refusals) await expect(publish(runId, ...args)).rejects.toMatchObject({ code })
    expect(await bare('branch', '--list', '--format=%(refname:short)')).toBe('main')
  })

  it('opens one pull request at a Gitea, with what was done, and brings it up to date', async () => {
    const gitea = await startFakeGitea()
    try {
      await git('local', 'push', '-q', gitea.url, 'main')
      const runId = await proposing()
      const to = ['--to', gitea.url, '--pull-request']
      const { out } = await publish(runId, ...to)
      expect(out).toMatch(/\ndraft pull request 1 opened: http\S+\/ada\/shop\/pulls\/1\n$/)
      expect(out).not.toContain(gitea.login.password)
      const again = JSON.parse((await publish(runId, ...to, '--json')).out)
      expect(again).toMatchObject({ result: 'unchanged', pull_request: { number: 1, result: 'updated', draft: true } })
      const authorization = `Basic ${Buffer.from(Object.values(gitea.login).join(':')).toString('base64')}`
      const answer = await fetch(gitea.bareUrl.replace('/ada/shop.git', '/api/v1/repos/ada/shop/pulls/1'), {
        headers: { authorization },
      })
      const { title, body } = z.looseObject({ title: z.string(), body: z.string() }).parse(await answer.json())
      expect(title).toMatch(/^WIP: Fix lint findings, document definitions/)
      expect(body).toContain(`\`remora review ${runId}\``)
      expect(body).not.toContain('/remora reject')
      await git('local', 'push', '-q', gitea.url, 'main:old')
      const nobody = ['--to', gitea.bareUrl, '--pull-request', '--branch', 'remora/other']
      await expect(publish(runId, ...nobody)).rejects.toMatchObject({ code: 'HOST_003' })
      const elsewhere = ['--to', 'bare.git', '--pull-request']
      await expect(publish(runId, ...elsewhere)).rejects.toMatchObject({ code: 'CONFIG_003' })
      expect(await bare('branch', '--list', '--format=%(refname:short)')).toBe('main')
    } finally {
      await gitea.close()
    }
  })
})
