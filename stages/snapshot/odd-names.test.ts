import { describe, expect, it } from 'vitest'
import { admitEntry, emptyContents } from './archive-contents.ts'
import { defaultSnapshotLimits as limits } from './snapshot-limits.ts'

/** What becomes of files of these names in one archive: those that are taken, and the reasons of those that are not. */
function admitted(names: readonly string[]) {
  const contents = emptyContents(limits)
  const read = async () => new Uint8Array()
  const taken = names.flatMap((name) => {
    const entry = { type: 'file', name, size: 0, executable: false, target: '', read } as const
    return admitEntry(entry, contents, { limits, include: [] }) ?? []
  })
  return { taken, skipped: Object.fromEntries(contents.skipped) }
}

const controls = Array.from({ length: 31 }, (_, at) => String.fromCharCode(at + 1))
const left: [why: RegExp, names: string[]][] = [
  [/has a backslash/, ['a\\b.py', 'C:\\x.py', 'src\\', '\\']],
  [
    /has a control character/,
    [...controls.map((sign) => `a${sign}b.py`), 'a\u007fb', 'a\u009bb', 'a\u2028b', 'a\u202egpj.py'],
  ],
  [/half of a character/, ['a\ud800.py', '\udc00']],
  [/not UTF-8/, ['caf\ufffd.py']],
  [/begins like a drive/, ['a:b', 'C:evil.py', 'c:/x.py']],
  [/is too long/, [`${'n'.repeat(256)}.py`, 'd/'.repeat(600) + 'x', 'ä'.repeat(128)]],
  [
    /of git's own folder/,
    ['.GIT/config', '.git /config', '.git./config', 'git~1/config', '.g\u200cit/config', '.git:x', 'a/.Git/x'],
  ],
]
const taken = [
  ...'-rf -- a. ..a ... $x `id` $(id).py * ? [a] {a,b} ~ ~root #x %s %00 & ; | < > !x \' " it\'s.py a"b.py'.split(' '),
  ...'CON con.py NUL COM1 aux.txt c/x x/a:b @x =x +x , A.py a.py .gitignore .github/x gitx .git2'.split(' '),
  ...'é.py e\u0301.py ſ.py ß.py İ 🦜.py 👩‍👩‍👧 日本語.py עברית.py \u00ad'.split(' '),
  ...'__proto__ constructor toString undefined null 0 1e3'.split(' '),
  ' a',
  'a ',
  'a b.py',
  '\u00a0',
  'n'.repeat(255),
]

describe('a file with an odd name', () => {
  it.each(left)('is left out and listed (%s), and the rest is taken', (why, names) => {
    for (const name of names) {
      const { taken: rest, skipped } = admitted(['before.py', name, 'after.py'])
      expect(rest).toEqual(['before.py', 'after.py'])
      expect(Object.values(skipped)).toEqual([expect.stringMatching(why)])
      expect(Object.keys(skipped)[0]).toMatch(/^[^\p{Cc}\u2028\u202e]{1,501}$/u)
    }
  })

  it('is taken where the name is the same everywhere, however unusual it is', () => {
    expect(admitted(taken)).toEqual({ taken, skipped: {} })
  })

  it.each(['/etc/passwd', '../x', 'a\\..\\..\\b', '..\\x', 'a/../..\n/x', 'C:\\..\\x', 'a\0.py'])(
    'is refused with all others where it leads out: %j',
    (name) => {
      expect(() => admitted(['before.py', name])).toThrow(expect.objectContaining({ code: 'INTAKE_002' }))
    },
  )
})
