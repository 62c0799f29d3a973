import { config } from 'zod'

// Is imported before any schema is made: the page's policy forbids the code that zod would write for it.
config({ jitless: true })
