import { expect, it } from 'vitest'
import { bareEnv, gitEnv, hooksEnv, leastEnv, pagerEnv } from './child-env.ts'

const plain = { PATH: '/usr/bin', LC_ALL: 'C' }
const ofUser = { HOME: '/home/me', https_proxy: 'http://proxy:1' }
const ofGit = { GIT_SSH_COMMAND: 'ssh -i key', SSH_AUTH_SOCK: '/run/agent', GH_TOKEN: 'of-the-host' }
const ofHooks = { SKIP: 'slow-hook', CARGO_HOME: '/opt/cargo' }
const ofPager = { LESSCHARSET: 'utf-8' }
const nobodys = {
  REMORA_GITHUB_PRIVATE_KEY: 'key',
  REMORA_TOKEN: 'token',
  AWS_SECRET_ACCESS_KEY: 'secret',
  OPENAI_API_KEY: 'key',
  NODE_OPTIONS: '--no-warnings',
  GIT_DIR: '/elsewhere/.git',
  GIT_COMMITTER_DATE: '0',
}
const all = { ...plain, ...ofUser, ...ofGit, ...ofHooks, ...ofPager, ...nobodys }

it('Each kind of program gets the variables that it needs, and none of ours', () => {
  expect(leastEnv(all)).toEqual(plain)
  expect(bareEnv(all)).toEqual({ ...plain, ...ofUser })
  expect(gitEnv(all)).toEqual({ ...plain, ...ofUser, ...ofGit })
  expect(hooksEnv(all)).toEqual({ ...plain, ...ofUser, ...ofGit, ...ofHooks, ...ofPager })
  expect(pagerEnv(all)).toEqual({ ...plain, ...ofUser, ...ofPager })
})
