import { z } from 'zod'
import { lastResult } from '#rehearsal/conversation.ts'
import { call, offering, type Rule } from '#rehearsal/rule.ts'

const patterns = [
  {
    rule: 'bare-except',
    pattern: /^\s*except\s*:/,
    severity: 'warning',
    claim: 'A bare except also catches KeyboardInterrupt and SystemExit.',
  },
  {
    rule: 'mutable-default',
    pattern: /\bdef\b.*[(,]\s*\w+[^,()]*=\s*(?:\[\]|\{\})/,
    severity: 'warning',
    claim: 'The default value is made once and shared by all calls.',
  },
  {
    rule: 'compared-with-none',
    pattern: /[=!]= None\b/,
    severity: 'note',
    claim: 'A comparison with None by == asks the object, which may answer otherwise; "is" does not.',
  },
  {
    rule: 'empty-catch',
    pattern: /\bcatch\s*(?:\([^)]*\)\s*)?\{\s*\}/,
    severity: 'warning',
    claim: 'The exception is dropped without a trace.',
  },
  {
    rule: 'work-left',
    pattern: /(?:#|\/\/|\/\*|--).*\b(?:TODO|FIXME)\b/,
    severity: 'note',
    claim: 'A comment says that something is not done yet.',
  },
] as const
const confidence = 0.6

const ReadCode = z.object({ path: z.string(), node: z.string(), code: z.string() })
type Fault = (typeof patterns)[number] & { line: number }

export const review: Rule = {
  plays: offering('read_code', 'search_code', 'report_finding', 'submit_result'),
  next(conversation) {
    const called = (tool: string) => conversation.steps.filter((step) => step.tool === tool).length
    if (called('read_code') === 0) return call('read_code')
    const read = ReadCode.safeParse(lastResult(conversation, 'read_code')).data
    if (read === undefined) return undefined
    if (called('search_code') === 0) return call('search_code', { text: read.node })
    const fault = faultsIn(read.code)[called('report_finding')]
    if (fault === undefined) return undefined
    const { claim, line, severity, rule } = fault
    return call('report_finding', { claim, line, confidence, severity, rule })
  },
  conclude(conversation) {
    if (lastResult(conversation, 'read_code') === undefined)
      return { status: 'failed', summary: 'The node could not be read.', changedFiles: [] }
    const { length } = conversation.steps.filter(({ tool, failed }) => tool === 'report_finding' && !failed)
    const counted = length === 0 ? 'nothing' : `${length} ${length === 1 ? 'finding' : 'findings'}`
    return { status: 'success', summary: `Reported ${counted}.`, changedFiles: [] }
  },
}

function faultsIn(code: string): Fault[] {
  return code.split('\n').flatMap((numbered) => {
    const [, line = '', text = ''] = /^(\d+): (.*)$/.exec(numbered) ?? []
    return patterns.flatMap((known) => (known.pattern.test(text) ? [{ ...known, line: Number(line) }] : []))
  })
}
