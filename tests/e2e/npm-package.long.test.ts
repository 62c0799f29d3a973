import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { repository } from '../program.ts'
import { smallSource, sourceFolder, type SourceFolder } from '../source-folder.ts'

const call = promisify(execFile)

/** The user's environment: without the programs that the clone's node_modules bring. */
const PATH = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((dir) => !dir.startsWith(repository))
  .join(delimiter)
const env = { ...process.env, PATH, npm_config_prefer_offline: 'true', npm_config_audit: 'false' }

describe('the package that npm pack makes', () => {
  let home: SourceFolder
  beforeAll(async () => {
    home = await sourceFolder({ 'package.json': '{ "private": true }', ...smallSource })
    await call('npm', ['pack', '--silent', '--pack-destination', home.path], { cwd: repository, env: process.env })
  })
  afterAll(() => home.remove())

  it('installs into an empty folder and brings back a patch from there', async () => {
    const tarball = (await readdir(home.path)).find((name) => name.endsWith('.tgz')) ?? 'no tarball'
    await call('npm', ['install', '--no-fund', join(home.path, tarball)], { cwd: home.path, env })
    const { stdout } = await call('npx', ['remora', 'run', 'shop', '--agents', 'lint,docstring', '--out', 'p.patch'], {
      cwd: home.path,
      env: { ...env, HOME: home.path },
    })
    expect(stdout).toContain('Apply it:')
    const { stdout: installed } = await call('npx', ['remora', 'queries', 'list'], { cwd: home.path, env })
    expect(installed).toContain('python')
    expect(await readdir(home.path)).toContain('p.patch')
    const { stdout: page } = await call('npx', ['remora-dashboard', '--help'], { cwd: home.path, env })
    expect(page).toContain('REMORA_API_URL')
    expect(await readdir(join(home.path, 'node_modules/remora/dist/dashboard/dist'))).toContain('index.html')
  })
})
