import { AppError } from '#domain/error.ts'

/**
 * Runs what a service's main.ts does. What an operator can mend (AppError) is one line on stderr and exit code 1; a bug
 * shows where it happened.
 */
export async function runService(main: () => Promise<void>): Promise<void> {
  try {
    await main()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    process.stderr.write(`${error.code} ${error.message}\n`)
    process.exit(1)
  }
}
