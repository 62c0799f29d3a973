import { useEffect, useState } from 'preact/hooks'

const reasons = {
  none: 'Open the link that “remora up” prints, or paste a token.',
  refused: 'The token is unknown, expired or revoked. Open the link that “remora up” prints, or paste another token.',
  signed_out: 'You are signed out.',
} as const

export function SignIn({ why, onToken }: { why: keyof typeof reasons; onToken: (token: string) => void }) {
  const [token, setToken] = useState('')
  useEffect(() => void (document.title = 'Sign in · Remora'), [])
  return (
    <main class="sign-in">
      <h1>Remora</h1>
      <p role={why === 'refused' ? 'alert' : undefined}>{reasons[why]}</p>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (token.trim() !== '') onToken(token.trim())
        }}
      >
        <label class="field">
          Token
          <input
            type="password"
            autocomplete="off"
            autofocus
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <div>
          <button class="primary" type="submit">
            Sign in
          </button>
        </div>
      </form>
    </main>
  )
}
