/** The entry of the page: a report that is part of the file, a board, or the console of a running operator. */
import { render } from 'preact'
import './style/console.css'
import { App } from './app.tsx'
import { signIn } from './state/api.ts'
import { Store } from './state/store.ts'
import { restoreTheme } from './state/viewport.ts'
import { Board } from './views/board.tsx'
import { Report } from './views/report.tsx'

restoreTheme()
const root = document.getElementById('app')
const embedded = document.getElementById('report')
if (root !== null && embedded !== null) {
  // Written by the same build as this script.
  render(<Report report={JSON.parse(embedded.textContent ?? '')} />, root)
} else if (root?.dataset.board !== undefined) {
  render(<Board source={root.dataset.board} />, root)
} else if (root !== null) {
  const store = new Store()
  await exchangeToken()
  render(<App store={store} />, root)
  void store.start()
}

/** The token of the printed link moves into a cookie, and out of the address, before anything else happens. */
async function exchangeToken(): Promise<void> {
  const [, token] = /^#token=([\w-]+)$/.exec(location.hash) ?? []
  if (token === undefined) return
  history.replaceState(null, '', '#/resources')
  // Without a session the page asks for another token.
  await signIn(token).catch(() => undefined)
}
