import { expect, it } from 'vitest'
import { PlanView } from '#schemas/plan-schema.ts'
import { openPaint } from '../terminal-text.ts'
import { describePlan } from './describe-plan.ts'

const view = { paint: openPaint(false), width: Infinity }
const plan = PlanView.parse({
  nodes_looked_at: 1996,
  beyond_limit: 9,
  agents: {
    lint: {
      looked_at: 1994,
      planned: 3,
      mechanical: 2,
      estimated_tokens: 1200,
      skipped: [{ reason: 'no lint fault', count: 1991, examples: ['src/a.py', 'src/b.py f'] }],
      folders: [{ path: 'src', planned: 3, estimated_tokens: 1200 }],
    },
    docstring: {
      looked_at: 10,
      planned: 1,
      mechanical: 0,
      estimated_tokens: 800,
      skipped: [{ reason: 'beyond the limit of 6 operations', count: 9, examples: ['src/b.py g'] }],
      folders: [
        { path: 'src', planned: 1, estimated_tokens: 800 },
        { path: 'web', planned: 0, estimated_tokens: 0 },
      ],
    },
  },
  skipped_files: [{ path: 'vendor', reason: 'vendored' }],
  notices: ['ruff.toml: the rule CPY001 is not supported'],
})

it('says what would be run by agent and folder, and what is skipped and why', () => {
  expect(describePlan(plan, view))
    .toBe(`Looked at 1,996 nodes. 6 operations would be run, for about 2,000 tokens; the limit leaves out 9 more. Nothing was done.

agent      nodes looked at  with a model  without a model  estimated tokens
docstring               10             1                0               800
lint                 1,994             3                2             1,200

By folder:
  src  4 operations, about 2,000 tokens
  web  0 operations, about 0 tokens

Skipped by docstring:
  9 nodes: beyond the limit of 6 operations, such as src/b.py g

Skipped by lint:
  1,991 nodes: no lint fault, such as src/a.py, src/b.py f

Files that are not looked into:
  vendor  vendored

ruff.toml: the rule CPY001 is not supported
`)
})

it('says so when there is nothing to do', () => {
  expect(
    describePlan(
      PlanView.parse({ nodes_looked_at: 3, beyond_limit: 0, agents: {}, skipped_files: [], notices: [] }),
      view,
    ),
  ).toBe('Looked at 3 nodes. Nothing to do: no operation would be run.\n')
})
