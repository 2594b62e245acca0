/** A page of its own: sections and forms that a server describes as values, read again every few seconds. */
import { useEffect, useState } from 'preact/hooks'
import type { BoardAction, BoardData, BoardField, BoardSection } from '../../src/wire.ts'
import { Notice, Section } from '../components/badges.tsx'
import { SectionContent, ValueTable } from '../components/sections.tsx'
import { ThemeButton } from '../components/theme-button.tsx'
import { request } from '../state/api.ts'

const REFRESH_MS = 2_000

type Fields = Readonly<Record<string, string | number>>
type Send = (action: BoardAction, fields?: Fields) => Promise<void>

/** The page. */
export function Board({ source }: { readonly source: string }) {
  const { board, lost, problem, send } = useBoard(source)
  useEffect(() => {
    if (board !== undefined) document.title = board.title
  }, [board?.title])
  return (
    <>
      <header class="top">
        <span class="brand">
          <span aria-hidden="true">◆</span> reeve
        </span>
        <span class="subtitle muted ellipsis">{board?.subtitle}</span>
        <span class={`connection ${lost === undefined ? 'good' : 'bad'}`} role="status">
          <span class="dot" aria-hidden="true" />
          {lost === undefined ? 'Live' : 'Reconnecting'}
        </span>
        <ThemeButton />
      </header>
      <main class="view">
        <div class="toolbar">
          <h1>{board?.title ?? 'Loading'}</h1>
        </div>
        {lost !== undefined && <Notice tone="bad">{lost}</Notice>}
        {problem !== undefined && <Notice tone="bad">{problem}</Notice>}
        {board?.sections.map((section) => (
          <BoardPart key={section.title} section={section} send={send} />
        ))}
      </main>
    </>
  )
}

/** What the server shows, and what went wrong. */
function useBoard(source: string) {
  const [board, setBoard] = useState<BoardData | undefined>(undefined)
  const [lost, setLost] = useState<string | undefined>(undefined)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const read = () =>
    request(source).then(
      (value) => {
        setBoard(value as BoardData) // as the server declares it
        setLost(undefined)
      },
      (error: unknown) => setLost(messageOf(error)),
    )
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOpen = true
    const again = () =>
      read().then(() => {
        if (isOpen) timer = setTimeout(again, REFRESH_MS)
      })
    void again()
    return () => {
      isOpen = false
      clearTimeout(timer)
    }
  }, [source])
  const send: Send = async ({ path, method }, fields) => {
    try {
      await request(path, method, fields)
      setProblem(undefined)
    } catch (error) {
      setProblem(messageOf(error))
    }
    await read()
  }
  return { board, lost, problem, send }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function BoardPart({ section, send }: { readonly section: BoardSection; readonly send: Send }) {
  if (section.type === 'form') return <Form section={section} send={send} />
  if (section.type === 'facts') {
    return (
      <Section title={section.title}>
        <SectionContent section={section} />
      </Section>
    )
  }
  const { title, note, actions = [], rowActions } = section
  const buttons = actions.map((action) => (
    <button key={action.label} type="button" onClick={() => void send(action)}>
      {action.label}
    </button>
  ))
  return (
    <Section title={title} note={note} action={buttons}>
      <ValueTable table={section} onAction={(action) => void send(action)} {...(rowActions && { rowActions })} />
    </Section>
  )
}

function Form({ section, send }: { readonly section: BoardSection & { readonly type: 'form' }; readonly send: Send }) {
  const { title, fields, action } = section
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement // whose listener this is
    void send(action, filled(fields, new FormData(form)))
  }
  return (
    <Section title={title}>
      <form class="fields" onSubmit={onSubmit}>
        {fields.map((field) => (
          <div key={field.name}>
            <label for={`field-${field.name}`}>{field.label}</label>
            <FieldInput field={field} />
          </div>
        ))}
        <button type="submit" class="primary">
          {action.label}
        </button>
      </form>
    </Section>
  )
}

function FieldInput({ field: { name, input, placeholder } }: { readonly field: BoardField }) {
  const id = `field-${name}`
  if ('max' in input) return <input {...{ id, name, placeholder }} type="number" min={1} max={input.max} />
  return (
    <select {...{ id, name }}>
      {input.options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  )
}

/** The fields that were filled in; numbers as numbers. */
function filled(fields: readonly BoardField[], data: FormData): Fields {
  const entries = fields.flatMap(({ name, input }): [string, string | number][] => {
    const text = String(data.get(name) ?? '')
    return text === '' ? [] : [[name, 'max' in input ? Number(text) : text]]
  })
  return Object.fromEntries(entries)
}
