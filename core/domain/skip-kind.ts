import { z } from 'zod'

/** What discovery skips by default and works on when it is asked to: by a flag, a setting or a run's `include`. */
export const skipKinds = ['vendored', 'generated', 'submodules', 'migrations', 'snapshots', 'ignored'] as const
export const SkipKind = z.enum(skipKinds)
export type SkipKind = z.infer<typeof SkipKind>

/** Each kind in the words of the command line's help. */
export const skipKindText: Readonly<Record<SkipKind, string>> = {
  vendored: 'folders and files of other projects',
  generated: 'files that a program wrote',
  submodules: 'submodules of git',
  migrations: 'database migrations',
  snapshots: 'snapshots that tests compare with',
  ignored: 'what .gitignore files name',
}
