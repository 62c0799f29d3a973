import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { applyEdits, type ChangeSet, type Edit, type FileChange } from '#domain/change-set.ts'
import { setsTogether } from '#stages/audit/sets-together.ts'
import { composeChangeSets, openComposedFiles } from './compose-change-sets.ts'
import type { FileResult } from './changes-at-path.ts'

const base = 'abcdefghijklmnopqrst'

function setOf(id: string, files: FileChange[], builtOn: string[] = []): ChangeSet {
  const ids = { changeSetId: id, operationId: `o${id}`, bundle: 'b', nodeId: 'n0000000000000000' }
  return { ...ids, files, ...(builtOn.length === 0 ? {} : { builtOn }), evidence: [] }
}

function editing(edits: Edit[], path = 'f'): FileChange {
  return { kind: 'edit', path, baseHash: 'h', edits }
}

const textOf = ([file]: readonly FileResult[]) =>
  file?.kind === 'edit' ? Buffer.from(applyEdits(Buffer.from(base), file.edits)).toString() : base

const liveEdits = (sets: readonly ChangeSet[]): Edit[] => {
  const [file] = composeChangeSets(sets).files
  return file?.kind === 'edit' ? file.edits : []
}

/** Edits of `seen`, which `live` made of the base, as edits of the base that hold all of `live` which they touch. */
function onBase(made: readonly Edit[], live: readonly Edit[], seen: string): Edit[] {
  let shift = 0
  const moved = live.map(({ start, end, text }) => {
    const from = start + shift
    shift += text.length - (end - start)
    return { from, to: from + text.length, grows: text.length - (end - start) }
  })
  let ranges = made.map(({ start, end }) => ({ from: start, to: end }))
  for (let before = ''; before !== JSON.stringify(ranges);) {
    before = JSON.stringify(ranges)
    for (const range of ranges) {
      for (const { from, to } of moved) {
        if (from > range.to || to < range.from) continue
        range.from = Math.min(range.from, from)
        range.to = Math.max(range.to, to)
      }
    }
    const joined: typeof ranges = []
    for (const range of ranges) {
      const last = joined.at(-1)
      if (last !== undefined && range.from <= last.to) last.to = Math.max(last.to, range.to)
      else joined.push(range)
    }
    ranges = joined
  }
  return ranges.map(({ from, to }) => {
    const inside = made.filter(({ start, end }) => start >= from && end <= to)
    const own = inside.map((edit) => ({ ...edit, start: edit.start - from, end: edit.end - from }))
    const text = Buffer.from(applyEdits(Buffer.from(seen.slice(from, to)), own)).toString()
    const grownUntil = (at: number) => moved.reduce((sum, one) => sum + (one.to < at ? one.grows : 0), 0)
    const within = moved.filter((one) => one.from >= from && one.to <= to)
    const start = from - grownUntil(from)
    return { start, end: start + (to - from) - within.reduce((sum, { grows }) => sum + grows, 0), text }
  })
}

/** A set, the text that its operation saw, and what it made of that. */
type Made = { set: ChangeSet; saw: string; made: string; own: string }

type Step = { on: boolean[]; edits: { start: number; size: number; length: number }[] }

const step: fc.Arbitrary<Step> = fc.record({
  on: fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }),
  edits: fc.array(fc.record({ start: fc.nat(24), size: fc.nat(4), length: fc.nat(2) }), { minLength: 1, maxLength: 3 }),
})
const steps = fc.array(step, { minLength: 2, maxLength: 7 })
/** Chains that all write one byte at the same place: each goes on from one earlier operation, or from none. */
const chains = fc.array(fc.nat(), { minLength: 5, maxLength: 7 }).map((all) =>
  all.map((drawn, at): Step => {
    const on = all.map((_, place) => place < at && place === drawn % (at + 1))
    return { on, edits: [{ start: 2, size: 1, length: 1 }] }
  }),
)

/** Plays operations that start from what those they are built on have made; each writes its digit, by default one of its own. */
function play(all: readonly Step[], digits = all.length): Made[] {
  const done: Made[] = []
  for (const [at, { on, edits }] of all.entries()) {
    const chosen = done.filter((_, place) => on[place])
    const ids = new Set(chosen.flatMap(({ set }) => [set.changeSetId, ...(set.builtOn ?? [])]))
    const needed = done.filter(({ set }) => ids.has(set.changeSetId)).map(({ set }) => set)
    if (composeChangeSets(needed).conflicts.length > 0) continue // no operation starts from what collides
    const saw = textOf(composeChangeSets(needed).files)
    const made: Edit[] = []
    for (const { start, size, length } of edits.toSorted((one, other) => one.start - other.start)) {
      const edit = { start, end: Math.min(saw.length, start + size), text: `${at % digits}`.repeat(length) }
      const isFree = start <= saw.length && start > (made.at(-1)?.end ?? -1)
      if (isFree && (edit.end > edit.start || length > 0)) made.push(edit)
    }
    if (made.length === 0) continue
    const set = setOf(`c${at}`, [editing(onBase(made, liveEdits(needed), saw))], [...ids])
    done.push({ set, saw, made: Buffer.from(applyEdits(Buffer.from(saw), made)).toString(), own: `${at}` })
  }
  return done
}

const letters = (text: string) => text.replaceAll(/\d/g, '')

describe('change sets that are built on others', () => {
  it('come with these, in any order, to just what their operation made of what it saw', () => {
    fc.assert(
      fc.property(steps, fc.infiniteStream(fc.nat()), (all, draw) => {
        const played = play(all)
        for (const { set, made } of played) {
          const needed = played.map((one) => one.set).filter((one) => set.builtOn?.includes(one.changeSetId))
          const twins = needed
            .filter(({ builtOn }) => builtOn === undefined)
            .map((one) => ({ ...one, changeSetId: `${one.changeSetId}x` }))
          for (const sets of [
            [set, ...needed],
            [...twins, ...needed, set],
            [...needed, set, ...twins],
          ]) {
            const order = new Map(sets.map((one) => [one, draw.next().value]))
            const shuffled = sets.toSorted((one, other) => (order.get(one) ?? 0) - (order.get(other) ?? 0))
            for (const given of [sets, shuffled]) {
              const composed = composeChangeSets(given)
              expect(composed.conflicts).toEqual([])
              expect(textOf(composed.files)).toBe(made)
            }
          }
        }
      }),
      { numRuns: draws(1_000) },
    )
  })

  it('and others are in one tree with all that each of them did, or one of them collides', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const played = play(all)
        const { files, conflicts } = composeChangeSets(played.map(({ set }) => set))
        const leftOut = new Set(conflicts.map(({ changeSetId }) => changeSetId))
        const taken = played.filter(({ set }) => !leftOut.has(set.changeSetId))
        for (const { errorCode, with: other } of conflicts) {
          expect(leftOut.has(other?.changeSetId ?? '')).toBe(errorCode === 'WORK_002')
        }
        const text = textOf(files)
        const turned = composeChangeSets(taken.map(({ set }) => set).toReversed())
        expect(turned.conflicts).toEqual([])
        expect(textOf(turned.files)).toBe(text)
        const removed = new Set(taken.flatMap(({ made }) => base.split('').filter((letter) => !made.includes(letter))))
        expect(letters(text)).toBe(
          base
            .split('')
            .filter((letter) => !removed.has(letter))
            .join(''),
        )
        const isLast = ({ set }: Made) => !taken.some((other) => other.set.builtOn?.includes(set.changeSetId))
        for (const { made, own } of taken.filter(isLast)) {
          expect(text.replaceAll(new RegExp(`[^${own}]`, 'g'), '')).toBe(
            made.replaceAll(new RegExp(`[^${own}]`, 'g'), ''),
          )
        }
      }),
      { numRuns: draws(1_000) },
    )
  })

  it('are taken out with the set that they need, and the rest is as without them', () => {
    fc.assert(
      fc.property(steps, fc.nat(), (all, at) => {
        const sets = play(all).map(({ set }) => set)
        const composed = openComposedFiles(new Map())
        const held = sets.filter((set) => composed.add(set) === undefined)
        const out = held[at % held.length]
        if (out === undefined) return
        composed.remove(out)
        const rest = held.filter((set) => set !== out && !set.builtOn?.includes(out.changeSetId))
        expect(textOf(composed.files())).toBe(textOf(composeChangeSets(rest).files))
      }),
      { numRuns: draws(1_000) },
    )
  })

  it('come to the same in any order, and to what the proof makes of them, also where they write the same', () => {
    fc.assert(
      fc.property(
        fc.oneof(steps, chains),
        fc.integer({ min: 1, max: 3 }),
        fc.infiniteStream(fc.nat()),
        (all, digits, draw) => {
          const order = new Map(play(all, digits).map(({ set }) => [set, draw.next().value]))
          const sets = [...order.keys()].toSorted((one, other) => (order.get(one) ?? 0) - (order.get(other) ?? 0))
          const { files, conflicts } = composeChangeSets(sets)
          const leftOut = new Set(conflicts.map(({ changeSetId }) => changeSetId))
          const taken = sets.filter(({ changeSetId }) => !leftOut.has(changeSetId))
          const turned = composeChangeSets(taken.toReversed())
          expect([turned.conflicts, textOf(turned.files)]).toEqual([[], textOf(files)])
          expect(new Set(files.flatMap((file) => file.sets))).toEqual(new Set(taken))
          const proved = files.map(({ sets: own, path }) => setsTogether(own, { path, wasExecutable: false }))
          expect(proved).toEqual(files.map(({ sets: _sets, ...file }) => file))
        },
      ),
      { numRuns: draws(1_000) },
    )
  })
})
