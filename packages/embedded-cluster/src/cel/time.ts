/** Parsing and formatting of timestamps and durations in CEL's format. */
import { CelDuration, CelTimestamp } from './values.ts'

/** Numbers of many digits take time to read, and are longer than any duration can be. */
const MAX_LENGTH = 1_000

const nanosPerUnit: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}

/** `1h30m`, `-1.5s`; `undefined` when the text is not a duration. */
export function parseDuration(text: string): CelDuration | undefined {
  if (text.length > MAX_LENGTH) return undefined
  const match = /^([+-]?)((?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|0)$/.exec(text)
  if (match === null) return undefined
  let nanoseconds = 0n
  for (const [, whole = '', fraction = '', unit = ''] of (match[2] ?? '').matchAll(
    /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g,
  )) {
    const factor = nanosPerUnit[unit] ?? 0n
    nanoseconds += BigInt(whole || '0') * factor
    if (fraction !== '') nanoseconds += (BigInt(fraction) * factor) / 10n ** BigInt(fraction.length)
  }
  return new CelDuration(match[1] === '-' ? -nanoseconds : nanoseconds)
}

/** A duration as text: seconds with `s`, as CEL prints it. */
export function formatDuration({ nanoseconds }: CelDuration): string {
  const sign = nanoseconds < 0n ? '-' : ''
  const total = nanoseconds < 0n ? -nanoseconds : nanoseconds
  const fraction = String(total % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '')
  return `${sign}${total / 1_000_000_000n}${fraction === '' ? '' : `.${fraction}`}s`
}

/** An RFC 3339 time; `undefined` when the text is not a timestamp. */
export function parseTimestamp(text: string): CelTimestamp | undefined {
  if (!/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.test(text)) return undefined
  const epochMs = Date.parse(text)
  return Number.isNaN(epochMs) ? undefined : new CelTimestamp(epochMs)
}

/** A timestamp as text, without a fraction when it is zero. */
export function formatTimestamp({ epochMs }: CelTimestamp): string {
  return new Date(epochMs).toISOString().replace('.000Z', 'Z')
}
