import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Diagnostic } from '#languages/lint/lint-report.ts'
import { openSurveyPool, type SurveyPool } from './survey-pool.ts'

const unused: Diagnostic = {
  code: 'F401',
  message: '`os` imported but unused',
  line: 1,
  column: 8,
  start: 7,
  end: 9,
  fix: undefined,
}
const faulty = {
  linted: { language: 'python', text: 'import os\n', diagnostics: [unused], place: { path: 'a.py', ownModules: [] } },
}
const nested = { python: { text: `x = a${'.b()'.repeat(40_000)}\n`, wantsFacts: true, wantsTypes: false } }

let pool: SurveyPool
beforeEach(() => {
  pool = openSurveyPool({ threads: 1, fileLimitMs: 500 })
})
afterEach(() => pool.close())

describe('the threads of the survey', () => {
  it('answer the files behind one that ends them', async () => {
    const asked = [nested, faulty, nested, faulty, faulty]
    const answers = await Promise.all(
      asked.map((file) => ('linted' in file ? pool.placedFaults(file) : pool.survey(file))),
    )
    const found = answers.map((answer) =>
      Array.isArray(answer) ? answer.map(({ code }) => code) : Object.keys(answer),
    )
    expect(found).toEqual([['unreadable'], ['F401'], ['unreadable'], ['F401'], ['F401']])
  })

  it('read other texts for the names they use, also behind one that ends them', async () => {
    const document = pool.usesIn('See `lib.one`, and::\n\n    from lib import two\n')
    const [, uses] = await Promise.all([pool.survey(nested), document])
    expect(uses).toMatchObject({ modules: { lib: ['one', 'two'] }, binds: [] })
  })

  it('give a file up that takes too long, and go on with the next', async () => {
    const hasty = openSurveyPool({ threads: 1, fileLimitMs: 1 })
    const slow = {
      python: { text: 'def f():\n    return f"a"\n\n\n'.repeat(5_000), wantsFacts: true, wantsTypes: false },
    }
    expect(await hasty.survey(slow)).toEqual({ unreadable: expect.stringContaining('it took longer than') })
    await hasty.close()
  })
})
