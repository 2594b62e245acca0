/** The frame of the console: navigation, connection, keyboard. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Overview } from '../src/wire.ts'
import { Notice } from './components/badges.tsx'
import { ThemeButton } from './components/theme-button.tsx'
import { duration, useNow } from './state/clock.ts'
import { linkTo, useRoute } from './state/routing.ts'
import { type Store, useStore } from './state/store.ts'
import { toggleTheme } from './state/viewport.ts'
import { Health } from './views/health.tsx'
import { OperatorView } from './views/operator-view.tsx'
import { Plan } from './views/plan.tsx'
import { Reconciles } from './views/reconciles.tsx'
import { Resource } from './views/resource.tsx'
import { Resources } from './views/resources.tsx'
import { SignIn } from './views/sign-in.tsx'

const PAGES = [
  { page: 'resources', title: 'Resources', key: 'r' },
  { page: 'reconciles', title: 'Reconciles', key: 'c' },
  { page: 'health', title: 'Health', key: 'h' },
  { page: 'plan', title: 'Plan', key: 'p' },
] as const

const CONNECTIONS = {
  loading: ['progressing', 'Loading'],
  live: ['good', 'Live'],
  lost: ['bad', 'Reconnecting'],
  'signed-out': ['bad', 'Signed out'],
} as const

/** The page. */
export function App({ store }: { readonly store: Store }) {
  const { connection, overview } = useStore(store)
  const { page, parts } = useRoute()
  const [isHelpOpen, setHelpOpen] = useState(false)
  useKeyboard(() => setHelpOpen(true))
  useEffect(() => {
    const known = PAGES.find((one) => one.page === page)?.title ?? parts.at(-1) ?? ''
    document.title = `${known} · Reeve console`
  }, [page, parts.join()])
  if (connection === 'signed-out') return <SignIn store={store} />
  const [health, text] = CONNECTIONS[connection]
  return (
    <>
      <button type="button" class="skip" onClick={skipToMain}>
        Skip to content
      </button>
      <header class="top">
        <span class="brand">
          <span aria-hidden="true">◆</span> reeve
        </span>
        <nav aria-label="Views">
          {PAGES.map((one) => (
            <a key={one.page} href={linkTo(one.page)} aria-current={isCurrent(page, one.page) ? 'page' : undefined}>
              {one.title}
            </a>
          ))}
          {views(overview).map(({ operator, id, title }) => (
            <a
              key={`${operator}${id}`}
              href={linkTo('view', [operator, id])}
              aria-current={page === 'view' && parts[0] === operator && parts[1] === id ? 'page' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
        <span class={`connection ${health}`} role="status">
          <span class="dot" aria-hidden="true" />
          {text}
        </span>
        <ThemeButton />
        <button type="button" class="quiet" onClick={() => void store.signOut().catch((error) => store.refused(error))}>
          Sign out
        </button>
        <button type="button" class="quiet" aria-label="Keyboard shortcuts" onClick={() => setHelpOpen(true)}>
          ?
        </button>
      </header>
      <main id="main" tabIndex={-1} key={`${page}/${page === 'view' || page === 'plan' ? '' : parts.join('/')}`}>
        {overview !== undefined && isStandby(overview) && <Standby store={store} />}
        <View page={page} store={store} />
      </main>
      {overview !== undefined && <Footer overview={overview} />}
      {isHelpOpen && <Help onClose={() => setHelpOpen(false)} />}
    </>
  )
}

function View({ page, store }: { readonly page: string; readonly store: Store }) {
  switch (page) {
    case 'resources':
      return <Resources store={store} />
    case 'resource':
      return <Resource store={store} />
    case 'reconciles':
      return <Reconciles store={store} />
    case 'health':
      return <Health store={store} />
    case 'plan':
      return <Plan store={store} />
    case 'view':
      return <OperatorView store={store} />
    default:
      return (
        <div class="view">
          <h1>There is no such page</h1>
          <p>
            <a href={linkTo('resources')}>All resources</a>
          </p>
        </div>
      )
  }
}

function isStandby({ operators }: Overview): boolean {
  return operators.length > 0 && operators.every(({ isLeader }) => !isLeader)
}

const STANDBY_REFRESH_MS = 5_000

/** One replica of an operator works; the others know the cluster, but have nothing to tell. */
function Standby({ store }: { readonly store: Store }) {
  useEffect(() => {
    const timer = setInterval(() => {
      store.readOverview().catch((error: unknown) => store.refused(error))
    }, STANDBY_REFRESH_MS)
    return () => clearInterval(timer)
  }, [store])
  return (
    <div class="standby">
      <Notice tone="warning">
        This replica is on standby and reconciles nothing. Open the console of the leader: kubectl get leases shows its
        name, kubectl port-forward leads to it.
      </Notice>
    </div>
  )
}

function Footer({ overview }: { readonly overview: Overview }) {
  const nowMs = useNow()
  return (
    <footer>
      {overview.operators.map(({ name }) => name).join(', ')} · running for {duration(nowMs - overview.startedMs)} ·
      read-only
    </footer>
  )
}

function Help({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="help-title">
      <h2 id="help-title">Keyboard</h2>
      <dl class="keys">
        {PAGES.map(({ key, title }) => (
          <div key={key}>
            <dt>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>/</kbd>
          </dt>
          <dd>Search</dd>
        </div>
        <div>
          <dt>
            <kbd>j</kbd> <kbd>k</kbd>
          </dt>
          <dd>Next and previous row; Enter opens it</dd>
        </div>
        <div>
          <dt>
            <kbd>t</kbd>
          </dt>
          <dd>Dark or light</dd>
        </div>
        <div>
          <dt>
            <kbd>?</kbd>
          </dt>
          <dd>This help; Esc closes it</dd>
        </div>
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  )
}

function views(overview: Overview | undefined) {
  return (overview?.operators ?? []).flatMap(({ name, views: own }) => own.map((view) => ({ operator: name, ...view })))
}

function isCurrent(page: string, link: string): boolean {
  return page === link || (page === 'resource' && link === 'resources')
}

function skipToMain(): void {
  document.getElementById('main')?.focus()
}

/** `g` and a letter go to a page, `/` searches. Not while the user types. */
function useKeyboard(openHelp: () => void): void {
  useEffect(() => {
    let isGoing = false
    const onKeyDown = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement // of a keyboard event
      const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
      if (event.key === 'Escape' && isTyping) target.blur()
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      const page = isGoing ? PAGES.find(({ key }) => key === event.key) : undefined
      isGoing = event.key === 'g' && !isGoing
      if (page !== undefined) location.hash = linkTo(page.page)
      else if (event.key === '/') document.getElementById('search')?.focus()
      else if (event.key === '?') openHelp()
      else if (event.key === 't') toggleTheme()
      else if (event.key === 'j' || event.key === 'k') focusTable(event, target)
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
}

/** From anywhere on the page, the first `j` goes to the table. */
function focusTable(event: KeyboardEvent, target: HTMLElement): void {
  const body = document.querySelector<HTMLElement>('.tbody')
  if (body === null || body.contains(target)) return
  body.focus()
  body.dispatchEvent(new KeyboardEvent('keydown', { key: event.key, bubbles: false }))
}
