/** Edit a resource in the browser, and see what would change. Nothing is applied. */
import { useEffect, useState } from 'preact/hooks'
import type { PlanResult, ResourceDetail } from '../../src/wire.ts'
import { Notice, Section } from '../components/badges.tsx'
import { PlanChanges } from '../components/plan-changes.tsx'
import { post } from '../state/api.ts'
import { useLoaded } from '../state/load.ts'
import { linkTo, resourceLink, useRoute } from '../state/routing.ts'
import { type Store, useStore } from '../state/store.ts'

/** The view. */
export function Plan({ store }: { readonly store: Store }) {
  const { parts } = useRoute()
  const { rows } = useStore(store)
  const [operator = '', kind = '', namespace = '', name = ''] = parts
  const known = [...rows.values()].map((row) => row.id).sort()
  return (
    <div class="view">
      <div class="toolbar">
        <h1>Plan</h1>
        <input
          type="search"
          id="search"
          aria-label="Resource to plan"
          placeholder="Choose a resource: operator/kind/namespace/name"
          list="known-resources"
          value={parts.join('/')}
          onChange={({ currentTarget: { value } }) => {
            if (rows.has(value)) location.hash = linkTo('plan', value.split('/'))
          }}
        />
        <datalist id="known-resources">
          {known.slice(0, 500).map((id) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        {name !== '' && <a href={resourceLink({ operator, kind, namespace, name })}>Open the resource</a>}
      </div>
      {name === '' ? (
        <Notice>
          Choose a resource, edit it, and see which objects the operator would create, change or delete. Nothing is
          applied.
        </Notice>
      ) : (
        <Editor key={parts.join('/')} store={store} address={{ operator, kind, namespace, name }} />
      )}
    </div>
  )
}

function Editor(props: {
  readonly store: Store
  readonly address: {
    readonly operator: string
    readonly kind: string
    readonly namespace: string
    readonly name: string
  }
}) {
  const { store, address } = props
  const { value, problem } = useLoaded<ResourceDetail>(store, 'resource', address)
  const [text, setText] = useState<string | undefined>(undefined)
  const [plan, setPlan] = useState<PlanResult | 'pending' | undefined>(undefined)
  useEffect(() => {
    if (value !== undefined && text === undefined) setText(value.yaml)
  }, [value])
  if (problem !== undefined) return <Notice tone="bad">{problem}</Notice>
  if (value === undefined || text === undefined) return <p class="muted">Loading…</p>
  const run = () => {
    setPlan('pending')
    post<PlanResult>('plan', { ...address, manifest: text }).then(setPlan, (error: unknown) =>
      setPlan({ changes: [], unchanged: 0, findings: [], problem: store.refused(error) }),
    )
  }
  return (
    <div class="columns">
      <Section
        title="Manifest"
        note={text === value.yaml ? 'as it is now' : 'edited'}
        action={
          <>
            {text !== value.yaml && (
              <button type="button" class="quiet" onClick={() => setText(value.yaml)}>
                Revert
              </button>
            )}
            <button type="button" class="primary" disabled={plan === 'pending'} onClick={run}>
              {plan === 'pending' ? 'Planning…' : 'Plan  (Ctrl+Enter)'}
            </button>
          </>
        }
      >
        <textarea
          class="editor"
          aria-label="Manifest of the resource"
          spellcheck={false}
          value={text}
          rows={Math.min(40, text.split('\n').length + 2)}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run()
          }}
        />
      </Section>
      <Section title="What would change">
        <div aria-live="polite">
          {plan === undefined && <p class="muted">Edit the manifest and plan it.</p>}
          {plan === 'pending' && <p class="muted">Rehearsing on a copy of the cluster…</p>}
          {plan !== undefined && plan !== 'pending' && <PlanChanges plan={plan} />}
        </div>
      </Section>
    </div>
  )
}
