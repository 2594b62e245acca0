/**
 * Reads the arguments of an init container. A library for command lines would be most of what this program loads, and it
 * would reject unknown flags: the same arguments go to bootstrappers of other releases, so each ignores what it does not
 * know.
 */
import { BootstrapError } from './bootstrap-error.ts'

/** One flag. */
export interface Flag {
  /** `list` may be repeated. `switch` may stand without a value, which means true. */
  readonly kind: 'text' | 'list' | 'switch'
  readonly help: string
}

/** Flags by name, without the dashes. */
export type Flags = Readonly<Record<string, Flag>>

/** The value of each flag; absent if it was not given. */
export type FlagValues<F extends Flags> = {
  readonly [Name in keyof F]?: { text: string; list: readonly string[]; switch: boolean }[F[Name]['kind']]
}

/** Spellings of a truth value. */
const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False'])

/**
 * The values of the flags in `args`, written as `--name=value` or `--name value`. Other words are ignored, and so are
 * unknown flags, with the value that follows them.
 *
 * *Errors*: `BOOTSTRAP_ARGUMENT` for a flag without its value, and for a switch whose value is not a truth value.
 *
 * @example
 * parseFlags({ target: { kind: 'text', help: 'agent directory' } }, ['--target=/mnt/bin', '--new']) // { target: '/mnt/bin' }
 */
export function parseFlags<F extends Flags>(flags: F, args: readonly string[]): FlagValues<F> {
  const values: Record<string, string | boolean | string[]> = {}
  const waiting = [...args]
  for (let word = waiting.shift(); word !== undefined && word !== '--'; word = waiting.shift()) {
    const [, name, attached] = /^--([^=]+)(?:=([\s\S]*))?$/.exec(word) ?? []
    if (name === undefined) continue
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
    if (flag === undefined) {
      if (attached === undefined && waiting[0]?.startsWith('-') === false) waiting.shift()
    } else if (flag.kind === 'switch') {
      values[name] = truth(name, attached ?? 'true')
    } else {
      const value = attached ?? waiting.shift()
      if (value === undefined) throw new BootstrapError('BOOTSTRAP_ARGUMENT', `--${name} needs a value`)
      if (flag.kind === 'text') values[name] = value
      else values[name] = [...(Array.isArray(values[name]) ? values[name] : []), value]
    }
  }
  // Each value was stored according to the kind of its flag.
  return values as FlagValues<F>
}

/** The lines of a help text, one per flag. */
export function describeFlags(flags: Flags): string {
  const rows = Object.entries(flags).map(([name, { kind, help }]) => [
    `--${name}${kind === 'switch' ? '' : ' <value>'}`,
    kind === 'list' ? `${help}; may be repeated` : help,
  ])
  const width = Math.max(...rows.map(([left = '']) => left.length))
  return rows.map(([left = '', right]) => `  ${left.padEnd(width)}  ${right}\n`).join('')
}

function truth(name: string, text: string): boolean {
  if (TRUE.has(text)) return true
  if (FALSE.has(text)) return false
  throw new BootstrapError(
    'BOOTSTRAP_ARGUMENT',
    `--${name}: ${JSON.stringify(text)} is not a truth value; use true or false`,
  )
}
