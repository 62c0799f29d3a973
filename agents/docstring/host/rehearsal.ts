import { lastResult, type Conversation } from '#rehearsal/conversation.ts'
import { docstringFor, hasDecorator, summaryFor } from './rehearsal/docstring-template.ts'
import { Signature } from './rehearsal/signature.ts'
import { call, offering, type Rule } from '#rehearsal/rule.ts'

export const docstring: Rule = {
  // A bundle of one turn may offer it alone.
  plays: offering('write_docstring'),
  next(conversation) {
    if (!conversation.steps.some((step) => step.tool === 'read_docstring')) return call('read_docstring')
    const signature = readSignature(conversation)
    if (signature === undefined || reasonToSkip(signature) !== undefined) return undefined
    const writes = conversation.steps.filter((step) => step.tool === 'write_docstring')
    if (writes.length === 0) return call('write_docstring', { docstring: docstringFor(signature) })
    const refusedOnce = writes.length === 1 && writes.every((step) => step.failed)
    return refusedOnce ? call('write_docstring', { docstring: summaryFor(signature) }) : undefined
  },
  conclude(conversation) {
    const signature = readSignature(conversation)
    if (signature === undefined) return { status: 'failed', summary: 'The node could not be read.', changedFiles: [] }
    const { name, path } = signature
    const skipped = reasonToSkip(signature)
    if (skipped !== undefined) return { status: 'skipped', summary: `${name} ${skipped}.`, changedFiles: [] }
    if (lastResult(conversation, 'write_docstring') === undefined) {
      return { status: 'failed', summary: `No docstring was written for ${name}.`, changedFiles: [] }
    }
    const changedFiles = path === undefined ? [] : [path]
    return { status: 'success', summary: `Wrote a docstring for ${name}.`, changedFiles }
  },
}

function readSignature(conversation: Conversation): Signature | undefined {
  return Signature.safeParse(lastResult(conversation, 'read_docstring')).data
}

function reasonToSkip(signature: Signature): string | undefined {
  if (signature.has_docstring) return 'already has a docstring'
  if (signature.path?.endsWith('.pyi') === true) return 'is in a stub file'
  return hasDecorator(signature, 'overload') ? 'is an overload, which its implementation describes' : undefined
}
