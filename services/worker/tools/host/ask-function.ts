import { AskedQuestion } from '#domain/question.ts'
import { ScriptError } from '#tool-scripts/script-error.ts'
import { ScriptSuspended } from '#tool-scripts/script-suspended.ts'
import type { HostFunction } from './host-function.ts'

/** `ask_user` never answers by itself: the script ends here, and is run again once a person has answered. */
export const askFunction: Record<string, HostFunction> = {
  async ask_user([text, choices]) {
    const question = AskedQuestion.safeParse({ text, choices: choices ?? null })
    if (question.success) throw new ScriptSuspended(question.data)
    const limits = 'a question has 1 to 3,000 characters and at most 20 different choices of 1 to 100 characters each'
    throw new ScriptError('ValueError', limits)
  },
}
