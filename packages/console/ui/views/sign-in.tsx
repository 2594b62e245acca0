/** Asks for a token: there is no session, it has expired, or the operator was started again. */
import { useState } from 'preact/hooks'
import { Notice } from '../components/badges.tsx'
import { signIn } from '../state/api.ts'
import type { Store } from '../state/store.ts'

/** The view. */
export function SignIn({ store }: { readonly store: Store }) {
  const [token, setToken] = useState('')
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const submit = (event: Event) => {
    event.preventDefault()
    signIn(token).then(
      () => {
        setToken('')
        store.connection = 'loading'
        void store.start()
      },
      (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)),
    )
  }
  return (
    <main class="sign-in">
      <form onSubmit={submit} class="panel">
        <h1>Reeve console</h1>
        <p>You are not signed in, or your session has ended.</p>
        <Notice tone={problem === undefined ? 'neutral' : 'bad'}>{problem ?? store.hint}</Notice>
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          required
          value={token}
          onInput={({ currentTarget }) => setToken(currentTarget.value)}
        />
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
    </main>
  )
}
