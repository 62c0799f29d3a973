import { isRecord } from '#domain/json.ts'
import { rehearsalLabel } from '#domain/model-kind.ts'
import { call, type Rule } from './rule.ts'

/** Plays the model that is asked about a run: it says that there is none, and reads neither the question nor the run. */
export const asked: Rule = {
  plays(tools) {
    const submit = tools.get('submit_result')
    const properties = isRecord(submit) ? submit['properties'] : undefined
    const details = isRecord(properties) ? properties['details'] : undefined
    return isRecord(details) && details['title'] === 'ask'
  },
  next() {
    const text = `This is the ${rehearsalLabel}: nobody has read the question, or the run.`
    const details = { text, events: [1], paths: [], findings: [] }
    return call('submit_result', { status: 'success', summary: text, details })
  },
  conclude: () => ({ status: 'failed', summary: 'There is nothing more to say.', changedFiles: [] }),
}
