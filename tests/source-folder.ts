import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { repository } from './program.ts'

const run = promisify(execFile)

export type SourceFolder = {
  path: string
  read(file: string): Promise<string>
  /** Rejects with git's message when the patch does not apply. */
  apply(patch: string): Promise<void>
  /** The folder as the system's `tar` packs it, gzipped. */
  pack(): Promise<Uint8Array>
  remove(): Promise<void>
}

/** A folder of its own with these files in it. */
export async function sourceFolder(files: Readonly<Record<string, string>>): Promise<SourceFolder> {
  const path = await mkdtemp(join(tmpdir(), 'remora-source-'))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true })
    await writeFile(join(path, name), text)
  }
  return openFolder(path)
}

/** A copy of examples/inventory that may be changed. */
export async function exampleCopy(): Promise<SourceFolder> {
  const path = await mkdtemp(join(tmpdir(), 'remora-inventory-'))
  await cp(join(repository, 'examples/inventory'), path, { recursive: true })
  return openFolder(path)
}

function openFolder(path: string): SourceFolder {
  return {
    path,
    read: (file) => readFile(join(path, file), 'utf8'),
    async apply(patch) {
      const from = await mkdtemp(join(tmpdir(), 'remora-patch-'))
      try {
        await writeFile(join(from, 'proposed.patch'), patch)
        await run('git', ['apply', '--check', join(from, 'proposed.patch')], { cwd: path })
        await run('git', ['apply', join(from, 'proposed.patch')], { cwd: path })
      } finally {
        await rm(from, { recursive: true, force: true })
      }
    },
    pack: () => packFolder(path),
    remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }),
  }
}

/** Any folder, as `SourceFolder.pack` has it. */
export async function packFolder(path: string): Promise<Uint8Array> {
  const packed = await run('tar', ['-cz', '-C', path, '.'], { encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 })
  return packed.stdout
}

/** Four nodes: a file with an unused import, a function with a lint fault and no docstring, a class and its method. */
export const smallSource = {
  'README.md': '# shop\n',
  'shop/stock.py': `import os


def shelf_label(shelf, row):
    return f"shelf" + str(shelf) + "-" + str(row)


class Stock:
    """What lies on the shelves."""

    def count(self, name):
        if not name in self.items:
            return 0
        return self.items[name]
`,
}

/** Any number of functions, each with a lint fault and no docstring. */
export function manyFunctions(count: number): string {
  const functions = Array.from({ length: count }, (_none, at) => `def price_${at}():\n    return f"price"\n`)
  return functions.join('\n\n')
}

/** Matches a function of `manyFunctions` that still has no docstring. */
export const undocumented = /\):\n {4}return/
