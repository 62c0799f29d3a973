/** Lists the keys as their sheet shows them. */
export const reviewKeys = [
  { keys: ['j'], action: 'next', does: 'the next change' },
  { keys: ['k'], action: 'previous', does: 'the change before' },
  { keys: ['a'], action: 'accept', does: 'accept it, with what it is built on' },
  { keys: ['r'], action: 'reject', does: 'reject it, with a word for its agent' },
  { keys: ['u'], action: 'undo', does: 'take back the decision on it, or else your last one' },
  { keys: ['Enter', 'o'], action: 'evidence', does: 'what was compared, check by check' },
  { keys: ['A'], action: 'accept_all', does: 'accept all that are pending: it asks first' },
  { keys: ['p'], action: 'pull', does: 'go to the button of the pull request' },
  { keys: ['v'], action: 'viewed', does: 'mark it as viewed, or not' },
  { keys: ['s'], action: 'layout', does: 'both versions beside each other, or one below the other' },
  { keys: ['/'], action: 'filter', does: 'filter by path or name' },
  { keys: ['?'], action: 'keys', does: 'this sheet' },
] as const

/** Names what a reviewer can do with a key. */
export type ReviewAction = (typeof reviewKeys)[number]['action']

export type PressedKey = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>

/** `isElsewhere`: somebody types, or a dialog is open. `isOnControl`: a button, a link or another control has the focus, and takes Enter. */
export type KeyPlace = { isElsewhere: boolean; isOnControl: boolean }

const actions = new Map<string, ReviewAction>(
  reviewKeys.flatMap(({ keys, action }) => keys.map((key) => [key, action] as const)),
)

/** Returns what a key does; undefined where it belongs to the browser or to what has the focus. */
export function actionOf(pressed: PressedKey, { isElsewhere, isOnControl }: KeyPlace): ReviewAction | undefined {
  const { key, ctrlKey, metaKey, altKey } = pressed
  if (ctrlKey || metaKey || altKey || isElsewhere) return undefined
  return key === 'Enter' && isOnControl ? undefined : actions.get(key)
}
