import { useState } from 'preact/hooks'

const reasons = {
  none: 'Open the link that "remora up" prints, or paste a token.',
  refused: 'The token is unknown, expired or revoked. Paste another one.',
  signed_out: 'You are signed out.',
} as const

export function SignIn({ why, onToken }: { why: keyof typeof reasons; onToken: (token: string) => void }) {
  const [token, setToken] = useState('')
  return (
    <main class="sign-in">
      <h1>Remora</h1>
      <p>{reasons[why]}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (token.trim() !== '') onToken(token.trim())
        }}
      >
        <label>
          Token
          <input
            type="password"
            autocomplete="off"
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Sign in</button>
      </form>
    </main>
  )
}
