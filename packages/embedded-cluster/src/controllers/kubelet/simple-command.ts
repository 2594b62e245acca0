/** The few commands whose end is known without running them: `sleep`, `exit`, `true`, `false`, and the image `pause`. */
import type { Container } from '../kinds/pods.ts'

/** How a command ends. */
export interface CommandEnd {
  /** Infinite if it sleeps for more than a day. */
  readonly runForMs: number
  readonly exitCode: number
}

const DAY_MS = 86_400_000
/** The image of Kubernetes that does nothing until it is stopped. */
const PAUSE = /(?:^|\/)pause(?:[:@]|$)/
const SHELLS = new Set(['sh', 'bash', '/bin/sh', '/bin/bash'])

/** The end of the container's command, if it is that simple; `undefined` otherwise. */
export function simpleCommandEnd({ image = '', command = [], args = [] }: Container): CommandEnd | undefined {
  const [program = '', ...rest] = [...command, ...args]
  if (command.length === 0) return PAUSE.test(image) ? { runForMs: Number.POSITIVE_INFINITY, exitCode: 0 } : undefined
  if (SHELLS.has(program)) return rest.length === 2 && rest[0] === '-c' ? scriptEnd(rest[1] ?? '') : undefined
  return scriptEnd([program, ...rest].join(' '))
}

/** `sleep 5`, `exit 1`, or both. */
function scriptEnd(script: string): CommandEnd | undefined {
  const word = /^\s*(true|false)\s*$/.exec(script)?.[1]
  if (word !== undefined) return { runForMs: 0, exitCode: word === 'true' ? 0 : 1 }
  const match = /^\s*(?:sleep (\d{1,12})s?)?\s*(?:;|&&)?\s*(?:exit (\d{1,3}))?\s*;?\s*$/.exec(script)
  const [, seconds, code] = match ?? []
  if (seconds === undefined && code === undefined) return undefined
  const runForMs = Number(seconds ?? 0) * 1_000
  return { runForMs: runForMs > DAY_MS ? Number.POSITIVE_INFINITY : runForMs, exitCode: Number(code ?? 0) }
}
