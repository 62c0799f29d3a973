import { isRecord } from '#domain/json.ts'
import { call, type Rule } from './rule.ts'

const troubleLine = /^Trouble looked for: (\w+)$/m

/** Plays the reviewer of the watcher: it judges nothing, and raises every trouble that it is shown. */
export const watcher: Rule = {
  plays(tools) {
    const submit = tools.get('submit_result')
    const properties = isRecord(submit) ? submit['properties'] : undefined
    const details = isRecord(properties) ? properties['details'] : undefined
    return isRecord(details) && isRecord(details['properties']) && 'escalations' in details['properties']
  },
  next({ userText }) {
    const kind = troubleLine.exec(userText)?.[1] ?? ''
    const rationale = 'The rehearsal model raises every trouble that it is shown.'
    const escalation = { kind, urgency: 'medium', affected: [], mitigation: 'notify', rationale, dedup_key: kind }
    const given = { status: 'success', summary: `Raised ${kind}.`, details: { escalations: [escalation] } }
    return call('submit_result', given)
  },
  conclude: () => ({ status: 'failed', summary: 'There is nothing more to say.', changedFiles: [] }),
}
