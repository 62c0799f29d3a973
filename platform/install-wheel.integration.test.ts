import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { pinnedRuff, ruff } from './known-programs.ts'
import { obtainProgram } from './obtain-program.ts'

const scratch = mkdtempSync(join(tmpdir(), 'remora-test-'))
afterAll(() => rmSync(scratch, { recursive: true }))

function folderWith(name: string, programs: Readonly<Record<string, string>>): string {
  const folder = join(scratch, name)
  mkdirSync(folder)
  for (const [program, words] of Object.entries(programs)) {
    writeFileSync(join(folder, program), `#!/bin/sh\n${words}\n`)
    chmodSync(join(folder, program), 0o755)
  }
  return folder
}

const says = (version: string) => `echo ruff ${version}`
/** Writes a Ruff into the folder behind `--target`, as pip does. */
const pip = `while [ "$1" != --target ]; do shift; done
/bin/mkdir -p "$2/bin"; printf '#!/bin/sh\\n${says(pinnedRuff)}\\n' > "$2/bin/ruff"; /bin/chmod 755 "$2/bin/ruff"
echo "$PIP_INDEX_URL" > "${join(scratch, 'index.txt')}"`

const obtaining = (searchPath: string, programDir: string, mayInstall = true) => ({
  searchPath,
  programDir: join(scratch, programDir),
  mayInstall,
  isRoot: false,
  env: { PATH: searchPath, PIP_INDEX_URL: 'https://packages.example' },
  say: () => {},
  signal: new AbortController().signal,
})

describe('the Ruff of a machine', () => {
  it('is the one on the PATH where that is the pinned one, or none may be got', async () => {
    const pinned = folderWith('pinned', { ruff: says(pinnedRuff), pip })
    expect(await obtainProgram(ruff, obtaining(pinned, 'one'))).toMatchObject({ path: join(pinned, 'ruff') })
    const other = folderWith('other', { ruff: says('0.15.0'), pip })
    expect(await obtainProgram(ruff, obtaining(other, 'one', false))).toMatchObject({ version: '0.15.0' })
  })

  it('is got once by pip, from the index of the user', async () => {
    const path = folderWith('with-pip', { pip })
    const found = await obtainProgram(ruff, obtaining(path, 'two'))
    expect(found).toMatchObject({
      version: pinnedRuff,
      path: join(scratch, 'two', `ruff-${pinnedRuff}`, 'bin', 'ruff'),
    })
    expect(await obtainProgram(ruff, obtaining('/nowhere', 'two', false))).toMatchObject({ path: found.path })
  })

  it('is missed in one sentence that says how to get one', async () => {
    const { lack } = await obtainProgram(ruff, obtaining(folderWith('empty', {}), 'three'))
    expect(lack).toMatch(/^Ruff is not installed \(neither uv nor pip is on the PATH\): install Ruff /)
    const old = await obtainProgram(ruff, obtaining(folderWith('old', { ruff: says('0.4.9') }), 'three'))
    expect(old.lack).toContain('is too old')
    const failing = await obtainProgram(
      ruff,
      obtaining(folderWith('failing', { pip: 'echo no such wheel >&2; exit 1' }), 'three'),
    )
    expect(failing.lack).toContain('pip did not get it')
  })
})
