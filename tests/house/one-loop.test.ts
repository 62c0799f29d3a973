import { parseSync, Visitor } from 'oxc-parser'
import { describe, expect, it } from 'vitest'
import { isTestFile, productFiles, readRepositoryFile } from './source-files.ts'

/** The ways from a prompt to a model. All who have a model work for them go the first one. */
const ways: Readonly<Record<string, readonly string[]>> = {
  'stages/operate/run-operation.ts': ['imports runAgent', 'calls model.complete'],
  'stages/operate/agent/typed-submission.ts': ['imports runAgent', 'calls model.complete'],
  'cli/harness/run-probe.ts': ['imports runAgent'],
  'cli/harness/run-harness.ts': ['calls pool.complete'],
  'stages/operate/agent/run-agent.ts': ['imports askModel'],
  'stages/operate/agent/ask-model.ts': ['calls run.model.complete'],
}

/** They complete something else. */
const noModels: ReadonlySet<string> = new Set(['deps.branchRuns.complete'])
/** A pool keeps its own word: how often it sends one request is no loop of an agent. */
const pool = 'models/'

const steps = new Set(['runAgent', 'askModel'])

/** Lists how a module comes to a model: what it imports of the loop, and where it has a request completed. */
function waysIn(path: string, text: string): string[] {
  if (!/complete|runAgent|askModel|run-agent|ask-model/.test(text)) return [] // parsing takes the time of this test
  const { program, module } = parseSync(path, text)
  const taken = module.staticImports.flatMap(({ entries }) =>
    entries.flatMap(({ importName: { name } }) => (steps.has(name ?? '') ? [`imports ${name}`] : [])),
  )
  const loaded = module.dynamicImports
    .map(({ moduleRequest: { start, end } }) => text.slice(start, end))
    .filter((specifier) => /\/(?:run-agent|ask-model)\.ts/.test(specifier))
  const calls: string[] = []
  let loops = 0
  const enter = () => void (loops += 1)
  const leave = () => void (loops -= 1)
  new Visitor({
    ForStatement: enter,
    'ForStatement:exit': leave,
    ForOfStatement: enter,
    'ForOfStatement:exit': leave,
    WhileStatement: enter,
    'WhileStatement:exit': leave,
    DoWhileStatement: enter,
    'DoWhileStatement:exit': leave,
    CallExpression({ callee }) {
      const callable = text.slice(callee.start, callee.end)
      if (!callable.endsWith('.complete') || noModels.has(callable)) return
      calls.push(`calls ${callable}${loops > 0 ? ' in a loop' : ''}`)
    },
    // `const { complete } = model` leaves no name to look for.
    VariableDeclarator({ id }) {
      const isTaken = id.type === 'ObjectPattern' && /\bcomplete\b/.test(text.slice(id.start, id.end))
      if (isTaken) calls.push('takes complete out of what has it')
    },
  }).visit(program)
  return [...taken, ...loaded.map((specifier) => `loads ${specifier}`), ...calls]
}

const second: [what: string, text: string, reason: string][] = [
  ['another asker', `const reply = await deps.model.complete(request, signal)`, 'calls deps.model.complete'],
  ['a loop of its own', `for (;;) { const reply = await model.complete(request) }`, 'calls model.complete in a loop'],
  ['a name of its own', `const { complete } = pool\nawait complete(request)`, 'takes complete out of what has it'],
  ['a step of the loop', `import { askModel as ask } from '#stages/operate/agent/ask-model.ts'`, 'imports askModel'],
  ['the loop', `import { runAgent } from '#stages/operate/agent/run-agent.ts'`, 'imports runAgent'],
  [
    'the loop, later',
    `const { runAgent } = await import('#stages/operate/agent/run-agent.ts')`,
    `loads '#stages/operate/agent/run-agent.ts'`,
  ],
]

describe('one loop', () => {
  it.each(second)('is not alone with %s', (_, text, reason) => {
    expect(waysIn('stages/conduct/other.ts', text)).toContain(reason)
  })

  it('is the way of everything that has a model work', () => {
    const files = productFiles().filter((path) => !isTestFile(path) && !path.startsWith(pool) && path.endsWith('.ts'))
    const found = files.map((path) => [path, waysIn(path, readRepositoryFile(path))] as const)
    expect(Object.fromEntries(found.filter(([, taken]) => taken.length > 0))).toEqual(ways)
  })
})
