import { z } from 'zod'
import { lastResult } from '#rehearsal/conversation.ts'
import { call, offering, type Rule } from '#rehearsal/rule.ts'

const ReadCode = z.object({ path: z.string(), code: z.string() })
const Related = z.object({ node: z.string(), related: z.array(z.string()) })
/** The first line of code of a file, by the words that begin definitions in most languages. */
const definition = /^(\d+):\s*(?:export |pub |async |public |static )*(?:def|class|function|func|fn|interface) (\w+)/m

const nobodyHasRead = 'Nobody has read the question.'

/** Plays a researcher that reads no question: it reports the first definition of its file, and how many others it is related to. */
export const research: Rule = {
  plays: offering('read_code', 'search_code', 'related_nodes', 'report_finding', 'report_learning', 'submit_result'),
  next(conversation) {
    const wasCalled = (tool: string) => conversation.steps.some((step) => step.tool === tool)
    if (!wasCalled('read_code')) return call('read_code')
    const read = ReadCode.safeParse(lastResult(conversation, 'read_code')).data
    if (read === undefined) return undefined
    const [, number = '1', name] = definition.exec(read.code) ?? []
    const line = Number(number)
    if (name !== undefined && !wasCalled('search_code')) return call('search_code', { text: name })
    if (!wasCalled('related_nodes')) return call('related_nodes', { line })
    if (wasCalled('report_learning')) return undefined
    if (wasCalled('report_finding')) return call('report_learning', { insight: nobodyHasRead, confidence: 0.5 })
    const about = Related.safeParse(lastResult(conversation, 'related_nodes')).data
    const related = about === undefined ? 'has no node' : `is the ${about.node}, with ${about.related.length} relations`
    return call('report_finding', { claim: `Line ${line} ${related}.`, line, confidence: 0.5, severity: 'note' })
  },
  conclude(conversation) {
    if (lastResult(conversation, 'report_finding') === undefined)
      return { status: 'failed', summary: 'The file could not be read.', changedFiles: [] }
    return {
      status: 'success',
      summary: `Reported the first definition. ${nobodyHasRead}`,
      changedFiles: [],
    }
  },
}
