import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bubblewrapDir, obtainBubblewrap } from './obtain-bubblewrap.ts'
import type { ObtainOptions } from './obtain-program.ts'

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-bwrap-'))
  await mkdir(join(dir, 'bin'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

async function program(name: string, body: string) {
  await writeFile(join(dir, 'bin', name), `#!/bin/sh\n${body}\n`, { mode: 0o755 })
}

/** apt-get and dpkg-deb of a system whose package holds a bubblewrap. */
async function debian() {
  await program(
    'apt-get',
    'for arg; do case $arg in Dir::Cache=*) : > "${arg#*=}/archives/bubblewrap.deb";; esac; done',
  )
  const script = '#!/bin/sh\\necho "bubblewrap 0.9.0"\\n'
  const makes = `/bin/mkdir -p "$3/usr/bin"; printf '${script}' > "$3/usr/bin/bwrap"; /bin/chmod 755 "$3/usr/bin/bwrap"`
  await program('dpkg-deb', makes)
}

function obtain(changed: Partial<ObtainOptions> = {}) {
  return obtainBubblewrap({
    searchPath: join(dir, 'bin'),
    programDir: join(dir, 'own'),
    mayInstall: true,
    isRoot: true,
    env: {},
    say: () => {},
    signal: new AbortController().signal,
    ...changed,
  })
}

describe('a bubblewrap for programs of a repository', () => {
  it('is that on the PATH, unless it is too old', async () => {
    await program('bwrap', 'echo "bubblewrap 0.8.0"')
    expect(await obtain()).toEqual({ path: join(dir, 'bin', 'bwrap') })
    await program('bwrap', 'echo "bubblewrap 0.4.1"')
    expect(await obtain({ mayInstall: false })).toEqual({ lack: 'bubblewrap is not installed: install bubblewrap' })
  })

  it('comes from a package of Debian that is unpacked where every user can start it, and is found again', async () => {
    await debian()
    const own = join(dir, 'own', 'bwrap')
    expect(await obtain()).toEqual({ path: own })
    expect(await obtain({ mayInstall: false })).toEqual({ path: own })
    const tree = /'(.*)\/bwrap'/.exec(await readFile(own, 'utf8'))?.[1] ?? ''
    const modes = await Promise.all([join(dir, 'own'), tree, own].map(async (path) => (await stat(path)).mode & 0o005))
    expect(modes).toEqual([0o005, 0o005, 0o005])
  })

  it('is named with the command that gets it where it cannot be had', async () => {
    await program('apt-get', 'exit 1')
    const refused = await obtain({ isRoot: false })
    expect(refused).toMatchObject({ lack: expect.stringContaining('sudo apt-get install bubblewrap') })
  })

  it('of root is kept where others can look', () => {
    expect(bubblewrapDir({ HOME: '/root' }, true)).toBe('/var/cache/remora')
    expect(bubblewrapDir({ HOME: '/home/me' }, false)).toBe('/home/me/.cache/remora')
  })
})
