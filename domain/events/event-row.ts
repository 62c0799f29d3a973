import { z } from 'zod'

/** Declares an event: its category, what it says, and the fields of its data. */
export function event<const Category extends string, Fields extends z.core.$ZodShape>(
  category: Category,
  about: string,
  fields: Fields,
) {
  return { category, about, data: z.strictObject(fields) }
}
