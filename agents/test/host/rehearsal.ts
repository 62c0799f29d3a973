import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { type Conversation, lastResult } from '#rehearsal/conversation.ts'
import { pythonProbe } from './rehearsal/python-probe.ts'
import { scriptProbe } from './rehearsal/script-probe.ts'
import { Case, Facts, testsText } from './rehearsal/tests-text.ts'
import { call, offering, type Rule } from '#rehearsal/rule.ts'

const Tried = z.object({ output: z.string() })
const Written = z.object({ path: z.string(), kept: z.number() })

export const testWriting: Rule = {
  // A bundle of one turn may offer it alone.
  plays: offering('write_tests'),
  next(conversation) {
    const called = (tool: string) => conversation.steps.some((step) => step.tool === tool)
    if (!called('read_target')) return call('read_target')
    const facts = Facts.safeParse(lastResult(conversation, 'read_target')).data
    if (facts === undefined || called('write_tests')) return undefined
    if (conversation.tools.has('try_code') && !called('try_code')) return call('try_code', { code: probeOf(facts) })
    const cases = casesOf(conversation)
    return cases.length === 0 && called('try_code') ? undefined : call('write_tests', { text: testsText(facts, cases) })
  },
  conclude(conversation) {
    const facts = Facts.safeParse(lastResult(conversation, 'read_target')).data
    if (facts === undefined) return { status: 'skipped', summary: 'The node cannot be tested alone.', changedFiles: [] }
    const written = Written.safeParse(lastResult(conversation, 'write_tests')).data
    if (written !== undefined) {
      const summary = `Wrote ${written.kept} tests of ${facts.qualified_name}.`
      return { status: 'success', summary, changedFiles: [written.path] }
    }
    const reason = conversation.steps.some(({ tool }) => tool === 'write_tests')
      ? 'no test of simple values passed and noticed a planted fault'
      : 'it answers nothing that a test can state when it is called with simple values'
    return { status: 'skipped', summary: `No test of ${facts.qualified_name}: ${reason}.`, changedFiles: [] }
  },
}

function probeOf(facts: Facts): string {
  const of = { importHere: facts.import_here, qualifiedName: facts.qualified_name, code: facts.code }
  return facts.language === 'python' ? pythonProbe({ ...of, lineLength: facts.line_length }) : scriptProbe(of)
}

function casesOf(conversation: Conversation): Case[] {
  const { output = '' } = Tried.safeParse(lastResult(conversation, 'try_code')).data ?? {}
  return output.split('\n').flatMap((line) => Case.safeParse(parseJson(line)).data ?? [])
}
