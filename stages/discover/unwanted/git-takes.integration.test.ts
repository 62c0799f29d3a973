import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readAttributeRules } from './attribute-rules.ts'
import { noRules } from './tree-rules.ts'
import { judgeContent } from './unwanted-content.ts'
import { pathJudge } from './unwanted-path.ts'

let top: string
beforeEach(async () => {
  top = await mkdtemp(join(tmpdir(), 'remora-git-takes-'))
  execFileSync('git', ['init', '--quiet', top])
  execFileSync('git', ['-C', top, 'config', 'filter.upper.clean', 'tr a-z A-Z'])
})
afterEach(() => rm(top, { recursive: true }))

type Case = { attributes?: string; path?: string; content: string }

const lines = 'one\ntwo\nthree\n'
const refused: Readonly<Record<string, Case>> = {
  'a filter that changes it': { attributes: '* filter=upper', content: lines },
  'another encoding': { attributes: '* working-tree-encoding=ISO-8859-1', content: 'one é\ntwo\n' },
  'an expanded $Id$': { attributes: '* ident', content: '# $Id: 12ab $\ntwo\n' },
  'a $Id$ that git expands': { attributes: '* ident', content: '# $Id$\ntwo\n' },
  'a name that is .git on Windows': { path: 'git~1/a.py', content: lines },
}
const taken: Readonly<Record<string, Case>> = {
  'no attributes': { content: lines },
  'text=auto': { attributes: '* text=auto', content: lines },
  'CRLF under text=auto': { attributes: '* text=auto', content: 'one\r\ntwo\r\n' },
  'mixed line ends': { content: 'one\r\ntwo\nthree\r\n' },
  '-text': { attributes: '* -text', content: 'one\r\ntwo\n' },
  'UTF-8 as its encoding': { attributes: '* working-tree-encoding=UTF-8', content: 'one é\ntwo\n' },
  'ident without $Id$': { attributes: '* ident', content: lines },
  '$Id$ without ident': { content: '# $Id: 12ab $\ntwo\n' },
  'a filter switched off': { attributes: '* filter=upper\n* -filter', content: lines },
  'a name with spaces, quotes and colons': { path: 'a b"c:.py', content: lines },
}

/** Whether git applies a patch of one line to the file, and leaves nothing but that line changed. */
async function gitTakes({ attributes = '', path = 'a.py', content }: Case): Promise<boolean> {
  await writeFile(join(top, '.gitattributes'), `${attributes}\n`)
  await mkdir(dirname(join(top, path)), { recursive: true })
  await writeFile(join(top, path), content)
  const [first = '', second = '', ...rest] = content.split('\n').map((line) => `${line}\n`)
  const quoted = /["\\]/.test(path)
    ? (side: string) => JSON.stringify(`${side}/${path}`)
    : (side: string) => `${side}/${path}\t`
  const kept = rest.filter((line) => line !== '\n').map((line) => ` ${line}`)
  const count = 2 + kept.length
  const head = `--- ${quoted('a')}\n+++ ${quoted('b')}\n@@ -1,${count} +1,${count} @@\n`
  const changed = second.replace('two', 'TWO')
  await writeFile(join(top, '.git/x.patch'), `${head} ${first}-${second}+${changed}${kept.join('')}`)
  try {
    execFileSync('git', ['apply', '.git/x.patch'], { cwd: top, stdio: 'ignore' })
  } catch {
    return false
  }
  return (await readFile(join(top, path), 'utf8')) === content.replace('two', 'TWO')
}

/** Whether discovery takes it. */
function weTake({ attributes, path = 'a.py', content }: Case): boolean {
  const rules =
    attributes === undefined
      ? noRules
      : { ...noRules, attributes: readAttributeRules([{ folder: '', text: attributes }]) }
  const judge = pathJudge({ paths: [path], rules, include: new Set() })
  const judged = judgeContent(Buffer.from(content))
  if (judge.unwanted(path) !== undefined || 'unwanted' in judged) return false
  return judged.marks.every((mark) => judge.admitted(path).includes(mark))
}

describe('what git does not apply a patch to', () => {
  it.each(Object.entries(refused))('is passed over: %s', async (_, one) => {
    expect({ git: await gitTakes(one), us: weTake(one) }).toEqual({ git: false, us: false })
  })

  it.each(Object.entries(taken))('is not: %s', async (_, one) => {
    expect({ git: await gitTakes(one), us: weTake(one) }).toEqual({ git: true, us: true })
  })
})
