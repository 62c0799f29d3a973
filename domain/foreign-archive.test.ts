import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { describeForeign, sniffArchive } from './archive-format.ts'
import { lacks } from '#testing/this-machine.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')

/** What the `git` of this machine writes. */
function gitBundle(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'remora-bundle-'))
  const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { stdio: 'pipe' })
  try {
    git('init', '-q')
    writeFileSync(join(folder, 'a.py'), 'x = 1\n')
    git('add', '.')
    git('-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '-qm', 'x')
    git('bundle', 'create', '-q', 'x.bundle', 'HEAD')
    return readFileSync(join(folder, 'x.bundle'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('describeForeign', () => {
  it.each([
    ['bzip2', latin1('BZh91AY&SY')],
    ['xz', latin1('\xfd7zXZ\0\0')],
    ['Zstandard', zstdCompressSync('x')],
    ['7z', latin1('7z\xbc\xaf\x27\x1c\0')],
    ['RAR', latin1('Rar!\x1a\x07\x01\0')],
    ['split zip', latin1('PK\x07\x08PK\x03\x04')],
    ['no archive', latin1('#!/bin/sh\n')],
  ])('says %s, and what to send instead', (name, bytes) => {
    expect(sniffArchive(bytes)).toBeUndefined()
    expect(describeForeign(bytes)).toMatch(/^is .*: send /)
    expect(describeForeign(bytes)).toContain(name)
  })

  it.skipIf(lacks('git'))('says how to make an archive of the repository that a git bundle comes from', () => {
    const bundle = gitBundle()
    expect(sniffArchive(bundle)).toBeUndefined()
    expect(describeForeign(bundle)).toMatch(/^is a git bundle.*git archive --format=tar\.gz -o x\.tar\.gz HEAD/)
  })
})
