import { createAppAuth } from '@octokit/auth-app'
import { Octokit } from '@octokit/core'
import { expect, it } from 'vitest'
import { lacks } from '../this-machine.ts'
import { startFakeGitHub } from './start-fake-github.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }

it.skipIf(lacks('git'))('the fake GitHub names what a client asks that GitHub does not have', async () => {
  const github = await startFakeGitHub()
  await github.addRepository({ owner: 'acme', name: 'shop', files: { 'a.py': 'a = 1\n' } })
  const { id: installationId } = github.install({ account: 'acme' })
  const auth = { appId: github.app.id, privateKey: github.app.privateKey, installationId }
  const client = new Octokit({ baseUrl: github.apiUrl, authStrategy: createAppAuth, auth, log })
  const of = { owner: 'acme', repo: 'shop' }
  const ref = { ...of, ref: 'heads/main', strange: 1 }
  await expect(client.request('GET /repos/{owner}/{repo}/git/ref/{ref}', ref)).rejects.toMatchObject({ status: 500 })
  await expect(client.request('GET /repos/{owner}/{repo}/pulls', { ...of, state: 'all' })).rejects.toMatchObject({
    status: 500,
  })
  expect(github.takeViolations()).toHaveLength(2)
  await github.close()
})
