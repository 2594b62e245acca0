/** What an operator shows of its own subject: tables and facts that it describes as values. */
import { useEffect, useState } from 'preact/hooks'
import type { SectionValue } from '../../src/wire.ts'
import { Notice, Section } from '../components/badges.tsx'
import { SectionContent } from '../components/sections.tsx'
import { useLoaded } from '../state/load.ts'
import { useRoute } from '../state/routing.ts'
import type { Store } from '../state/store.ts'

const REFRESH_MS = 5_000

/** The view. */
export function OperatorView({ store }: { readonly store: Store }) {
  const { parts } = useRoute()
  const [operator = '', id = ''] = parts
  const [tick, setTick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setTick((count) => count + 1), REFRESH_MS)
    return () => clearInterval(timer)
  }, [])
  const loaded = useLoaded<{ readonly title: string; readonly sections: readonly SectionValue[] }>(
    store,
    'view',
    { operator, id },
    tick,
  )
  const { value, problem } = loaded
  return (
    <div class="view">
      <div class="toolbar">
        <h1>{value?.title ?? ''}</h1>
        <span class="muted">{operator}</span>
      </div>
      {problem !== undefined && <Notice tone="bad">{problem}</Notice>}
      {value?.sections.map((section) => (
        <Section key={section.title} title={section.title}>
          <SectionContent section={section} />
        </Section>
      ))}
    </div>
  )
}
