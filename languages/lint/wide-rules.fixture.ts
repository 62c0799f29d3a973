import { defaultPathRules, type PathRules } from '#domain/path-rules.ts'

/** A repository that has many rules on, for tests that need faults of many kinds. */
export const wideRules: PathRules = {
  ...defaultPathRules,
  lint: {
    ...defaultPathRules.lint,
    source: 'ruff.toml',
    options: { 'target-version': 'py310', lint: { select: ['E', 'F', 'W', 'UP', 'B', 'C4', 'PIE', 'RET', 'SIM'] } },
  },
}
