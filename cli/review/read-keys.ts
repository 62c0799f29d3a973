import { emitKeypressEvents, type Key as PressedKey } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Key } from './review-state.ts'

export type KeyEvents = {
  onKey(key: Key): void
  /** Pasted text as a whole, so that it is not taken for keys. */
  onPaste(text: string): void
}

const escape = '\u001B'
const control = /\p{Cc}/u
const finalCharacter = /[@-~]$/

/** Names the keys with the text that each writes. Escape and a character together are `alt-b`; unknown sequences mean nothing. */
export function readKeys(input: Readable, { onKey, onPaste }: KeyEvents): { start(): void; stop(): void } {
  let pasted: string | undefined
  /** Is true when what came last ended with Escape: nobody knows yet whether that was a key of its own. */
  let endedWithEscape = false
  /** The chunk before ended with Escape, so the next key's Escape may be a key of its own. */
  let isApart = false
  let isInSequence = false
  emitKeypressEvents(input)
  const arrived = (chunk: Buffer | string) => {
    isApart = endedWithEscape
    endedWithEscape = chunk.toString().endsWith(escape)
  }
  const pressed = (text: string | undefined, key: PressedKey) => {
    const { name = '', sequence = '' } = key
    const isNamed = name !== '' && name !== 'undefined' // readline's word for a sequence that it does not know
    const wasApart = isApart
    isApart = false
    if (name === 'paste-start') pasted = ''
    else if (name === 'paste-end') {
      onPaste(pasted ?? '')
      pasted = undefined
    } else if (pasted !== undefined) pasted += sequence
    else if (isInSequence) isInSequence = !finalCharacter.test(sequence)
    else if (!isNamed && sequence.startsWith(escape)) {
      // Of a longer sequence than readline knows, the rest comes character by character.
      isInSequence = sequence.startsWith(`${escape}[`) && !finalCharacter.test(sequence.slice(2))
    } else if (name === 'escape') {
      endedWithEscape = false
      onKey({ name, text: '' })
    } else onKey(namedKey(text, key, wasApart))
  }
  return {
    start() {
      input.prependListener('data', arrived)
      input.on('keypress', pressed)
    },
    stop() {
      input.off('data', arrived)
      input.off('keypress', pressed)
    },
  }
}

/** Somebody who presses Escape and then a letter may be so quick that they are read as one key: it was the Escape that came first. */
function namedKey(
  text: string | undefined,
  { name = '', ctrl = false, meta = false, sequence = '' }: PressedKey,
  wasApart: boolean,
): Key {
  if (meta && wasApart && sequence.length === 2) return { name: 'escape', text: '' }
  if (meta || sequence.startsWith(escape.repeat(2))) return { name: `alt-${name}`, text: '' }
  if (ctrl) return { name: `ctrl-${name}`, text: '' }
  return { name, text: text === undefined || control.test(text) ? '' : text }
}
