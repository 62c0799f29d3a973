/** The part of the parser of schedules that we use; the package brings no types of its own. */
declare module '@breejs/later' {
  /** What must hold, by the names of times: `M` months, `d` days of the week, `D` of the month, `t_a` and `t_b` seconds of the day … */
  export type Constraints = Readonly<Record<string, readonly number[] | undefined>>
  /** `error`: the place in the text where it is not understood; -1 for none. */
  export type Parsed = { schedules: readonly Constraints[]; exceptions: readonly Constraints[]; error: number }
  export const parse: { text(text: string): Parsed }
  /** `isValid`: whether the time is one of the schedule, as the UTC fields of the date have it. */
  export function schedule(parsed: Parsed): {
    isValid(at: Date): boolean
    /** The first time of it in between; 0 or undefined where there is none. Looks a bounded number of times. */
    next(count: 1, from: Date, to: Date): Date | 0 | undefined
  }
}
