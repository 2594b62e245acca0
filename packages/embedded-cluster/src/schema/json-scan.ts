/** Scans JSON text without building values: depth, number of fields, duplicates. */

/** Measurements of a JSON text. */
export interface JsonScan {
  /** Nesting depth of objects and lists. */
  readonly depth: number
  /** Number of fields, including duplicates. */
  readonly fields: number
}

/** Scans text that is known to be valid JSON. Uses no stack, however deep the text is. */
export function scanJson(text: string): JsonScan {
  let depth = 0
  let level = 0
  let fields = 0
  for (let position = 0; position < text.length; position++) {
    switch (text.charCodeAt(position)) {
      case 0x22:
        position = endOfString(text, position)
        break
      case 0x3a:
        fields++
        break
      case 0x7b:
      case 0x5b:
        level++
        if (level > depth) depth = level
        break
      case 0x7d:
      case 0x5d:
        level--
        break
      default:
    }
  }
  return { depth, fields }
}

/** The position of the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let position = text.indexOf('"', start + 1)
  while (position !== -1) {
    let backslashes = 0
    while (text.charCodeAt(position - 1 - backslashes) === 0x5c) backslashes++
    if (backslashes % 2 === 0) return position
    position = text.indexOf('"', position + 1)
  }
  return text.length
}

/** An open object or list at the current position. */
interface Level {
  readonly path: string
  /** Names seen so far; `undefined` in a list. */
  readonly names: Set<string> | undefined
  index: number
  /** Whether the next string is a field name. */
  expectsName: boolean
  /** Path of the next value. */
  next: string
}

/** Paths of fields that occur more than once in text that is known to be valid JSON, such as `spec.list[1].name`. */
export function findDuplicates(text: string): string[] {
  const duplicates: string[] = []
  const levels: Level[] = []
  for (let position = 0; position < text.length; position++) {
    const level = levels.at(-1)
    switch (text.charAt(position)) {
      case '"': {
        const end = endOfString(text, position)
        if (level?.expectsName) noteName(level, JSON.parse(text.slice(position, end + 1)), duplicates)
        position = end
        break
      }
      case '{':
        levels.push({ path: level?.next ?? '', names: new Set(), index: 0, expectsName: true, next: '' })
        break
      case '[': {
        const path = level?.next ?? ''
        levels.push({ path, names: undefined, index: 0, expectsName: false, next: `${path}[0]` })
        break
      }
      case '}':
      case ']':
        levels.pop()
        break
      case ',':
        if (level !== undefined) advance(level)
        break
      default:
    }
  }
  return duplicates
}

function noteName(level: Level, name: string, duplicates: string[]): void {
  level.expectsName = false
  level.next = level.path === '' ? name : `${level.path}.${name}`
  if (level.names?.has(name)) duplicates.push(level.next)
  level.names?.add(name)
}

function advance(level: Level): void {
  if (level.names !== undefined) {
    level.expectsName = true
  } else {
    level.index++
    level.next = `${level.path}[${level.index}]`
  }
}
