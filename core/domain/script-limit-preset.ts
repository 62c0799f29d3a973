import { z } from 'zod'

/** How much one run of a tool script may use (core/tool-scripts/script-limits.ts). */
export const ScriptLimitPreset = z.enum(['strict', 'default', 'permissive'])
export type ScriptLimitPreset = z.infer<typeof ScriptLimitPreset>
