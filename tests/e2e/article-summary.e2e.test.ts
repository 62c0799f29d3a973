import { afterAll, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { remoraHere } from '../remora-here.ts'
import { openPrograms, remora } from './program.ts'
import { sourceFolder } from './source-folder.ts'

const programs = openPrograms()
afterAll(() => programs.end())

const article = (title: string) => `# ${title}\n\n## Counting\n\n${'Stock is counted by hand. '.repeat(80)}\n`

it.skipIf(lacks('git'))(
  'a summary is written when a person agrees, and waits for one again where the rehearsal model wrote it',
  async () => {
    const folder = await sourceFolder({
      'remora.yaml': 'execution: { concurrency: 4 }\n',
      'docs/stock.md': article('Stock'),
      'docs/orders.md': article('Orders'),
      'docs/short.md': '# Short\n\n## Part\n\ntext\n',
      'README.md': article('Readme'),
    })
    const run = remora(programs, folder, ['run', '.', '--agents', 'article_summary', '--accept', 'auto'])
    await until(() => run.err(), { holds: (text) => text.match(/ TEXT/g)?.length === 2, withinMs: 60_000 })
    expect(run.err()).toContain('This article is about Stock: Counting.')
    const runId = /remora answer (\S+) q\d/.exec(run.err())?.[1] ?? ''
    const questionOf = (path: string) =>
      new RegExp(String.raw`(q\d+)\s+article_summary ${path}`).exec(run.err())?.[1] ?? ''
    expect((await remoraHere(folder, ['answer', runId, questionOf('docs/stock.md'), 'use'])).code).toBe(0)
    expect((await remoraHere(folder, ['answer', runId, questionOf('docs/orders.md'), 'leave'])).code).toBe(0)
    expect(await run.exited, run.err()).toBe(0)
    const accepted = await remoraHere(folder, ['diff', runId, '--of', 'accepted'])
    expect(accepted.out).not.toContain('This article is about Stock')
    const proposed = await remoraHere(folder, ['diff', runId, '--of', 'proposed'])
    expect(proposed.code, proposed.err).toBe(0)
    await folder.apply(proposed.out)
    expect(await folder.read('docs/stock.md')).toContain(
      '# Stock\n\nThis article is about Stock: Counting.\n\n## Counting\n',
    )
    expect(await folder.read('docs/orders.md')).toBe(article('Orders'))
    expect(await folder.read('README.md')).toBe(article('Readme'))
    await folder.remove()
  },
)
