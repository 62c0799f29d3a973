import { expect, it, onTestFinished } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { sourceFolder } from '../e2e/source-folder.ts'
import { startInOneProcess } from './one-process.ts'

const article = (title: string) => `# ${title}\n\n## Counting\n\n${'Stock is counted by hand. '.repeat(80)}\n`

it.skipIf(lacks('git'))(
  'a summary is written when a person agrees, and waits for one again where the rehearsal model wrote it',
  async () => {
    const folder = await sourceFolder({
      'docs/stock.md': article('Stock'),
      'docs/orders.md': article('Orders'),
      'docs/short.md': '# Short\n\n## Part\n\ntext\n',
      'README.md': article('Readme'),
    })
    onTestFinished(folder.remove)
    const services = await startInOneProcess({ env: { REMORA_MODEL_URLS: 'rehearsal' } })
    onTestFinished(services.close)
    const printed = { out: '', err: '' }
    const args = ['run', '.', '--agents', 'article_summary', '--accept', 'auto', '--out', 'x.patch']
    const run = services.remora(folder, args, {}, printed)
    await until(() => printed.err, { holds: (text) => text.match(/ TEXT/g)?.length === 2, withinMs: 60_000 })
    expect(printed.err).toContain('This article is about Stock: Counting.')
    const runId = /remora answer (\S+) q\d/.exec(printed.err)?.[1] ?? ''
    const questionOf = (path: string) =>
      new RegExp(String.raw`(q\d+)\s+article_summary ${path}`).exec(printed.err)?.[1] ?? ''
    expect((await services.remora(folder, ['answer', runId, questionOf('docs/stock.md'), 'use'])).code).toBe(0)
    expect((await services.remora(folder, ['answer', runId, questionOf('docs/orders.md'), 'leave'])).code).toBe(0)
    expect(await run).toMatchObject({ code: 0 })
    const accepted = await services.remora(folder, ['diff', runId, '--of', 'accepted'])
    expect(accepted.out).not.toContain('This article is about Stock')
    const proposed = await services.remora(folder, ['diff', runId, '--of', 'proposed'])
    expect(proposed.code, proposed.err).toBe(0)
    await folder.apply(proposed.out)
    expect(await folder.read('docs/stock.md')).toContain(
      '# Stock\n\nThis article is about Stock: Counting.\n\n## Counting\n',
    )
    expect(await folder.read('docs/orders.md')).toBe(article('Orders'))
    expect(await folder.read('README.md')).toBe(article('Readme'))
  },
)
