import { expect, test } from 'vitest'
import { actionOf, reviewKeys } from './review-keymap.ts'
import { readViewed, withViewed } from './review-viewed.ts'

const plain = { ctrlKey: false, metaKey: false, altKey: false }
const id = 'c00000000000000ab'
const free = { isElsewhere: false, isOnControl: false }

test('each key of the sheet does what the sheet says, and no two are the same', () => {
  for (const { keys, action } of reviewKeys)
    for (const key of keys) expect(actionOf({ ...plain, key }, free)).toBe(action)
  const all = reviewKeys.flatMap(({ keys }): readonly string[] => keys)
  expect(new Set(all).size).toBe(all.length)
})

test('keys belong to the browser with Ctrl, to a text while somebody types, and Enter to a button', () => {
  expect(actionOf({ ...plain, key: 'r', ctrlKey: true }, free)).toBeUndefined()
  expect(actionOf({ ...plain, key: 'a' }, { ...free, isElsewhere: true })).toBeUndefined()
  expect(actionOf({ ...plain, key: 'Enter' }, { ...free, isOnControl: true })).toBeUndefined()
  expect(actionOf({ ...plain, key: 'a' }, { ...free, isOnControl: true })).toBe('accept')
  expect(actionOf({ ...plain, key: 'x' }, free)).toBeUndefined()
})

test('what was viewed is kept', () => {
  let text = ''
  const store = { getItem: () => text, setItem: (_key: string, value: string) => void (text = value) }
  withViewed(readViewed(store), { id, isViewed: true }, store)
  expect([...readViewed(store)]).toEqual([id])
  withViewed(readViewed(store), { id, isViewed: false }, store)
  expect([...readViewed(store)]).toEqual([])
})

test('a browser that keeps nothing, or something else, has no marks and no fault', () => {
  const refusing = {
    getItem: () => '<b> nonsense',
    setItem: () => {
      throw new Error('full')
    },
  }
  expect([...withViewed(readViewed(refusing), { id, isViewed: true }, refusing)]).toEqual([id])
})
