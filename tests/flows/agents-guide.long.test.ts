import { cp, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { loadSettings } from '#settings/load-settings.ts'
import { lacks } from '#testing/this-machine.ts'
import { repository } from '../program.ts'
import { sourceFolder, type SourceFolder } from '../source-folder.ts'
import { remoraHere } from '../remora-here.ts'
import { type OneProcess, startInOneProcess } from '../one-process.ts'

/** A fenced block of the guide, and the file that the text before it names last. */
type Block = { language: string; text: string; file: string | undefined }

async function blocksOfGuide(): Promise<Block[]> {
  const page = await readFile(join(repository, 'docs/guide/agents.md'), 'utf8')
  let at = 0
  return [...page.matchAll(/^```(?<language>\w*)\n(?<text>.*?)^```$/gms)].map(({ index, groups = {}, 0: whole }) => {
    const before = page.slice(at, index)
    at = index + whole.length
    const [file] = [...before.matchAll(/`((?:my-agents\/|remora)[\w./-]*\.(?:pym|yaml))`/g)]
      .map(([, name]) => name)
      .slice(-1)
    return { language: groups['language'] ?? '', text: groups['text'] ?? '', file }
  })
}

let services: OneProcess
let folder: SourceFolder
let commands: string[]
let files: string[]
beforeAll(async () => {
  const blocks = await blocksOfGuide()
  const written = blocks.filter(({ language }) => language === 'yaml' || language === 'python')
  files = written.map(({ file = '' }) => file)
  // The second remora.yaml is for later.
  folder = await sourceFolder(Object.fromEntries(written.slice(0, 3).map(({ file = '', text }) => [file, text])))
  await cp(join(repository, 'examples/inventory'), join(folder.path, 'examples/inventory'), { recursive: true })
  await writeFile(join(folder.path, 'later.yaml'), written[3]?.text ?? '')
  services = await startInOneProcess({ env: settingsOf('remora.yaml') })
  commands = blocks.flatMap(({ language, text }) => (language === 'sh' ? text.trim().split('\n') : []))
})
afterAll(async () => {
  await services.close()
  await folder.remove()
})

const needService = new Set(['run', 'findings', 'transcript'])

/** What discovery reads of a settings file of the folder, whose own stack would have it from there. */
function settingsOf(file: string): Record<string, string> {
  const { env } = loadSettings({ REMORA_CONFIG: join(folder.path, file) }, folder.path)
  const { REMORA_AGENTS_DIR: dir = '', REMORA_AGENTS_SETTINGS: values } = env
  return { REMORA_AGENTS_DIR: resolve(folder.path, dir), ...(values && { REMORA_AGENTS_SETTINGS: values }) }
}

/** The command of the guide that begins so, with the id of the run in its place. */
async function follow(beginning: string, runId = ''): Promise<string> {
  const line = commands.find((one) => one.startsWith(`npx remora ${beginning}`))?.replace(/\bRUN\b/, runId)
  const words = [...(line ?? '').matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, ...parts]) => parts.join(''))
  // The services have their model: only a command that starts its own takes one.
  const args = words
    .slice(2)
    .filter((word, at, all) => word !== '--model' && all[at - 1] !== '--model')
    .map((word) => (word.startsWith('my-agents') ? join(folder.path, word) : word)) // the folder of this process is another
  const answer = needService.has(args[0] ?? '') ? await services.remora(folder, args) : await remoraHere(folder, args)
  expect([line, answer]).toMatchObject([line, { code: 0 }])
  return answer.out
}

/** The first line of words is to be mended; the same words in code are left alone. */
const shelves = `# Shelves

Look at the the shelf.

## Count

Count \`2 of the the 5\` first.

\`\`\`
the the
\`\`\`
`

describe('the guide to writing an agent', () => {
  it('says where each of its files is to be', () => {
    expect(files).toEqual([
      'remora.yaml',
      'my-agents/long-functions/tools/report_length.pym',
      'my-agents/long-functions/bundle.yaml',
      'remora.yaml',
    ])
  })

  it('leads from nothing to findings', async () => {
    expect(await follow('check')).toContain('long-functions: PASS (2 tools, max_turns 4)\n')
    expect(JSON.parse(await follow('tool run'))).toMatchObject({ result: { lines: 24, too_long: true } })
    const report = await follow('run')
    const [, count, runId] = /^(\d+) findings: remora findings (\w+)$/m.exec(report) ?? []
    expect(count).toBe('4')
    expect(await follow('findings RUN', runId)).toContain(
      'src/inventory/cache.py:92: note: memoize has 22 lines, 20 are allowed. (long-functions too-long, confidence 1, to line 113)\n    def memoize(maxsize: int = 64):\n',
    )
    expect(await follow('findings RUN --format sarif', runId)).toBe('')
    expect(JSON.parse(await folder.read('findings.sarif'))).toMatchObject({ version: '2.1.0' })
    expect(await follow('transcript', runId)).toContain('report_length')
  })

  it('is right about what its settings find', async () => {
    await services.close()
    services = await startInOneProcess({ env: settingsOf('later.yaml') })
    expect(await follow('run')).toMatch(/^14 findings: /m)
  })

  it.skipIf(lacks('git'))(
    'names an example whose changes are proved, and that changes nothing but wording',
    async () => {
      expect(await follow('check examples/agents')).toContain('article_section: PASS (3 tools, max_turns 12)\n')
      await services.close()
      services = await startInOneProcess({ env: { REMORA_AGENTS_DIR: join(repository, 'examples/agents') } })
      const own = await sourceFolder({ 'docs/shelves.md': shelves })
      onTestFinished(own.remove)
      const args = ['run', '.', '--agents', 'article_section', '--accept', 'auto', '--out', 'mended.patch']
      expect(await services.remora(own, args)).toMatchObject({ code: 0 })
      await own.apply(await own.read('mended.patch'))
      expect(await own.read('docs/shelves.md')).toBe(shelves.replace('the the shelf', 'the shelf'))
    },
  )

  it.each([
    ['Start with `2 of the the 5`.', 7, undefined],
    ['Count `3 of the the 5` first.', 7, 'code, links, numbers and signs of Markdown must stay as they are'],
    ['it is', 10, "only lines of the section's own prose may change, not headings, code and other sections"],
  ])('names an example that takes another wording, or says why it does not: %s', async (text, line, fault) => {
    const own = await sourceFolder({ 'docs/shelves.md': shelves })
    onTestFinished(own.remove)
    const tool = join(repository, 'examples/agents/article_section/tools/edit_section.pym')
    const inputs = ['-i', `text=${JSON.stringify(text)}`, '-i', `start_line=${line}`, '-i', `end_line=${line}`]
    const node = ['--workspace', own.path, '--node', 'docs/shelves.md:Shelves.Count']
    const { out } = await remoraHere(own, ['tool', 'run', tool, ...inputs, ...node])
    expect(JSON.parse(out)).toMatchObject(fault === undefined ? { result: { lines: [line] } } : { error: fault })
  })
})
